//! A small HTTP server on the loopback interface.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value as Json;

/// What a client asks for.
pub(super) struct Request {
    pub(super) method: String,
    /// Path without the query.
    pub(super) path: String,
    /// The body, null if there is none.
    pub(super) body: Json,
}

/// What it gets.
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    /// Sent as JSON; null for none.
    pub(super) body: Json,
}

impl Response {
    /// A body, or none, without further headers.
    pub(super) fn new(status: u16, body: Json) -> Self {
        let headers = Vec::new();
        Self {
            status,
            headers,
            body,
        }
    }
}

/// Something a server can be.
pub(super) trait Service: Send + 'static {
    /// Answers a request; `own` is the address of the server.
    fn answer(&mut self, own: &str, request: &Request) -> Response;

    /// What it holds, which must be nothing at the end of a stack's life.
    fn objects(&self) -> Vec<String>;
}

/// A running server. Its threads end with the test's process.
pub(super) struct Running {
    /// `http://127.0.0.1:<port>`
    pub(super) address: String,
    service: Arc<Mutex<dyn Service>>,
}

impl Running {
    /// Starts serving on a free port.
    pub(super) fn start(service: impl Service) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let service: Arc<Mutex<dyn Service>> = Arc::new(Mutex::new(service));
        let (own, shared) = (address.clone(), Arc::clone(&service));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (own, shared) = (own.clone(), Arc::clone(&shared));
                // A client that hangs up in the middle is its own business.
                thread::spawn(move || drop(converse(&stream, &own, &shared)));
            }
        });
        Self { address, service }
    }

    /// What the service holds.
    pub(super) fn objects(&self) -> Vec<String> {
        self.service.lock().unwrap().objects()
    }
}

/// Answers the requests of one connection.
fn converse(stream: &TcpStream, own: &str, service: &Mutex<dyn Service>) -> io::Result<()> {
    let mut reader = BufReader::new(stream);
    while let Some(request) = read(&mut reader)? {
        let response = service.lock().unwrap().answer(own, &request);
        write(stream, &response)?;
    }
    Ok(())
}

/// The next request; `None` at the end of the connection. Bodies have a length; nobody here sends them in chunks.
fn read(reader: &mut impl BufRead) -> io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, target) = (
        words.next().unwrap_or_default(),
        words.next().unwrap_or_default(),
    );
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header)?;
        match header.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().unwrap_or(0);
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let path = target.split('?').next().unwrap_or_default().to_owned();
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(Some(Request { method, path, body }))
}

fn write(mut stream: &TcpStream, response: &Response) -> io::Result<()> {
    let body = match &response.body {
        Json::Null => String::new(),
        body => body.to_string(),
    };
    let mut head = format!(
        "HTTP/1.1 {} -\r\ncontent-type: application/json\r\ncontent-length: {}\r\n",
        response.status,
        body.len()
    );
    for (name, value) in &response.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{body}").as_bytes())
}
