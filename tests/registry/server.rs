//! A web server for one test, on this machine: what it is told to serve, and what it was asked for.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// An answer.
#[derive(Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
    /// How many bytes of the body are really sent.
    pub(super) sent: usize,
    /// It is given once all of these are asked for.
    pub(super) meeting: Option<Arc<Meeting>>,
}

/// Requests that wait for each other.
pub(super) struct Meeting {
    expected: usize,
    arrived: Mutex<usize>,
    all: Condvar,
}

impl Meeting {
    pub(super) fn of(expected: usize) -> Arc<Self> {
        Arc::new(Self {
            expected,
            arrived: Mutex::new(0),
            all: Condvar::new(),
        })
    }

    /// Waits for the others, but not for ever.
    fn join(&self) {
        let mut arrived = self.arrived.lock().unwrap();
        *arrived += 1;
        self.all.notify_all();
        let patience = Duration::from_secs(20);
        let waiting = |arrived: &mut usize| *arrived < self.expected;
        let (arrived, _) = self
            .all
            .wait_timeout_while(arrived, patience, waiting)
            .unwrap();
        assert!(*arrived >= self.expected, "the others did not come");
    }
}

impl Reply {
    pub(super) fn ok(body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self {
            status: 200,
            headers: Vec::new(),
            sent: body.len(),
            body,
            meeting: None,
        }
    }

    pub(super) fn status(status: u16) -> Self {
        Self {
            status,
            ..Self::ok("")
        }
    }

    pub(super) fn redirect(to: &str) -> Self {
        Self {
            headers: vec![("Location", to.to_owned())],
            ..Self::status(302)
        }
    }
}

#[derive(Default)]
struct Shared {
    /// Answers by path; of several the first is given once each, the last for good.
    replies: Mutex<BTreeMap<String, Vec<Reply>>>,
    /// The token that must come with each request, if one must.
    token: Mutex<Option<String>>,
    asked: Mutex<Vec<String>>,
    stop: AtomicBool,
}

/// It serves until it is dropped.
pub(super) struct Server {
    pub(super) host: String,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::start_with(None)
    }

    /// One that speaks TLS as `localhost`; with it comes its certificate in PEM form.
    pub(super) fn start_tls() -> (Self, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let config = ServerConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()))
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        (Self::start_with(Some(Arc::new(config))), made.cert.pem())
    }

    fn start_with(tls: Option<Arc<ServerConfig>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared::default());
        let serving = shared.clone();
        let thread = thread::spawn(move || {
            for connection in listener.incoming() {
                if serving.stop.load(Ordering::SeqCst) {
                    return;
                }
                let connection = connection.unwrap();
                // A client that goes away is its own business.
                let _ = match &tls {
                    None => serving.answer(connection),
                    Some(config) => {
                        let tls = ServerConnection::new(config.clone()).unwrap();
                        serving.answer(StreamOwned::new(tls, connection))
                    }
                };
            }
        });
        Self {
            host,
            shared,
            thread: Some(thread),
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host)
    }

    /// Serves `reply` at `path`.
    pub(super) fn serve(&self, path: &str, reply: Reply) {
        self.serve_in_turn(path, vec![reply]);
    }

    /// Serves these, one after the other.
    pub(super) fn serve_in_turn(&self, path: &str, replies: Vec<Reply>) {
        let mut all = self.shared.replies.lock().unwrap();
        all.insert(path.to_owned(), replies);
    }

    /// What is served at `path`, to be changed.
    pub(super) fn served(&self, path: &str) -> Reply {
        self.shared.replies.lock().unwrap()[path][0].clone()
    }

    pub(super) fn demand_token(&self, token: &str) {
        *self.shared.token.lock().unwrap() = Some(token.to_owned());
    }

    /// The paths that were asked for since the last call.
    pub(super) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.shared.asked.lock().unwrap())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(&self.host));
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

impl Shared {
    fn answer(&self, mut connection: impl Read + Write) -> std::io::Result<()> {
        let mut lines = BufReader::new(&mut connection).lines();
        let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
        let Some(path) = first.split(' ').nth(1).map(str::to_owned) else {
            return Ok(());
        };
        let mut token = None;
        for line in lines.by_ref() {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(": Bearer ")
                && name.eq_ignore_ascii_case("authorization")
            {
                token = Some(value.to_owned());
            }
        }
        drop(lines);
        self.asked.lock().unwrap().push(path.clone());
        let demanded = self.token.lock().unwrap().clone();
        let reply = if demanded.is_some() && token != demanded {
            Reply::status(401)
        } else {
            let mut replies = self.replies.lock().unwrap();
            match replies.get_mut(&path) {
                Some(replies) if replies.len() > 1 => replies.remove(0),
                Some(replies) => replies[0].clone(),
                None => Reply::status(404),
            }
        };
        if let Some(meeting) = &reply.meeting {
            meeting.join();
        }
        let mut head = format!(
            "HTTP/1.1 {} X\r\nConnection: close\r\nContent-Length: {}\r\n",
            reply.status,
            reply.body.len()
        );
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("\r\n");
        connection.write_all(head.as_bytes())?;
        connection.write_all(&reply.body[..reply.sent])?;
        connection.flush()
    }
}
