//! A web server on this machine that keeps states as the `http` backend of OpenTofu wants it: with locks, for those who know the
//! password.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use md5::{Digest as _, Md5};
use serde_json::Value;

#[derive(Default)]
struct Kept {
    state: Option<Vec<u8>>,
    lock: Option<Value>,
    /// Answers to the next requests for the state, instead of the right ones.
    failures: Vec<Failure>,
}

/// How a request goes wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Failure {
    /// Nothing is done; the answer has this status.
    Status(u16),
    /// It is done, but there is no answer.
    NoAnswer,
    /// The checksum is another's.
    WrongSum,
}

/// A request as far as it matters.
struct Request {
    method: String,
    path: String,
    query: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

/// It serves as long as the process lives.
pub(super) struct HttpServer {
    address: String,
    kept: Mutex<BTreeMap<String, Kept>>,
    /// Methods and targets so far.
    asked: Mutex<Vec<String>>,
    /// Headers of the last request by path and method.
    headers: Mutex<BTreeMap<(String, String), BTreeMap<String, String>>>,
    paths: AtomicUsize,
}

impl HttpServer {
    /// The one of this process.
    pub(super) fn shared() -> Arc<Self> {
        static SERVER: LazyLock<Arc<HttpServer>> = LazyLock::new(HttpServer::start);
        Arc::clone(&SERVER)
    }

    fn start() -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Arc::new(Self {
            address: listener.local_addr().unwrap().to_string(),
            kept: Mutex::default(),
            asked: Mutex::default(),
            headers: Mutex::default(),
            paths: AtomicUsize::new(0),
        });
        let serving = Arc::clone(&server);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let serving = Arc::clone(&serving);
                // A client that goes away is its own business.
                thread::spawn(move || serving.serve(connection));
            }
        });
        server
    }

    /// A path at which nothing is kept.
    pub(super) fn new_path(&self) -> String {
        format!("/{}", self.paths.fetch_add(1, SeqCst))
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) fn put(&self, path: &str, bytes: &[u8]) {
        let mut kept = self.kept.lock().unwrap();
        kept.entry(path.to_owned()).or_default().state = Some(bytes.to_vec());
    }

    /// Has somebody lock the state at `path`.
    pub(super) fn lock(&self, path: &str, lock: &Value) {
        let mut kept = self.kept.lock().unwrap();
        kept.entry(path.to_owned()).or_default().lock = Some(lock.clone());
    }

    /// Has the next requests for the state at `path` go wrong, the first one first.
    pub(super) fn fail(&self, path: &str, failures: &[Failure]) {
        let mut kept = self.kept.lock().unwrap();
        kept.entry(path.to_owned()).or_default().failures = failures.to_vec();
    }

    /// Methods and targets of requests below `path` so far.
    pub(super) fn asked(&self, path: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        let below = |line: &&String| {
            let target = line.split(' ').nth(1).unwrap();
            target
                .strip_prefix(path)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        asked.iter().filter(below).cloned().collect()
    }

    /// Headers of the last such request.
    pub(super) fn headers(&self, method: &str, path: &str) -> BTreeMap<String, String> {
        let headers = self.headers.lock().unwrap();
        headers[&(path.to_owned(), method.to_owned())].clone()
    }

    fn serve(&self, connection: TcpStream) -> std::io::Result<()> {
        let mut reader = BufReader::new(connection);
        while let Some(request) = read(&mut reader)? {
            self.asked.lock().unwrap().push(format!(
                "{} {}{}",
                request.method, request.path, request.query
            ));
            self.headers.lock().unwrap().insert(
                (request.path.clone(), request.method.clone()),
                request.headers.clone(),
            );
            let Some((status, headers, body)) = self.answer(&request) else {
                return Ok(());
            };
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\n{headers}\r\n",
                body.len()
            );
            let connection = reader.get_mut();
            connection.write_all(head.as_bytes())?;
            connection.write_all(&body)?;
            connection.flush()?;
        }
        Ok(())
    }

    fn answer(&self, request: &Request) -> Option<(u16, String, Vec<u8>)> {
        let status = |status| Some((status, String::new(), Vec::new()));
        let secret = format!("Basic {}", BASE64.encode("anna:secret"));
        if request.headers.get("authorization") != Some(&secret) {
            return status(401);
        }
        let name = request.path.trim_end_matches("/lock");
        let mut all = self.kept.lock().unwrap();
        let kept = all.entry(name.to_owned()).or_default();
        let fails = request.path == name && !kept.failures.is_empty();
        let failure = fails.then(|| kept.failures.remove(0));
        if let Some(Failure::Status(code)) = failure {
            return status(code);
        }
        let lock_id = |lock: &Option<Value>| lock.as_ref().map(|lock| lock["ID"].clone());
        match request.method.as_str() {
            "GET" => {
                let Some(state) = kept.state.clone() else {
                    return status(404);
                };
                let summed = match failure {
                    Some(Failure::WrongSum) => &[],
                    _ => &state[..],
                };
                let sum = format!("Content-MD5: {}\r\n", BASE64.encode(Md5::digest(summed)));
                Some((200, sum, state))
            }
            "POST" => {
                let id = request.query.strip_prefix("?ID=").map(Value::from);
                if id != lock_id(&kept.lock) {
                    return status(409);
                }
                let sum = BASE64.encode(Md5::digest(&request.body));
                if request.headers.get("content-md5") != Some(&sum) {
                    return status(400);
                }
                kept.state = Some(request.body.clone());
                match failure {
                    Some(Failure::NoAnswer) => None,
                    _ => status(200),
                }
            }
            "LOCK" | "PUT" => {
                if let Some(holder) = &kept.lock {
                    return Some((423, String::new(), holder.to_string().into_bytes()));
                }
                kept.lock = Some(serde_json::from_slice(&request.body).unwrap());
                status(200)
            }
            "UNLOCK" => {
                let asked = serde_json::from_slice(&request.body).ok();
                if lock_id(&asked) != lock_id(&kept.lock) {
                    return status(409);
                }
                kept.lock = None;
                status(200)
            }
            _ => status(405),
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Request>> {
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    let mut words = line.split(' ').map(str::to_owned);
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = match target.find('?') {
        Some(at) => target.split_at(at),
        None => (target.as_str(), ""),
    };
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length = headers
        .get("content-length")
        .map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(Some(Request {
        method,
        path: path.to_owned(),
        query: query.to_owned(),
        headers,
        body,
    }))
}
