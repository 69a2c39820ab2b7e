//! Real servers that keep states: each is started once per test process, and ends with it.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU16, Ordering::SeqCst};
use std::time::{Duration, Instant};

use crate::support::{overwrite, skip};

/// The user of a server that does not want to be root, and its group.
const NOBODY: u32 = 65534;

/// A server on this machine.
pub(super) struct Server {
    pub(super) port: u16,
    pub(super) folder: PathBuf,
    /// It runs until the standard input of this is closed.
    _life: Child,
}

/// A port that nobody has, and that nobody gets who asks the system for any: those are above. A server binds it only later.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let start = u16::try_from(std::process::id() % 5000).unwrap();
    let candidates = (0..5000).map(|_| 25_000 + (start + NEXT.fetch_add(1, SeqCst)) % 5000);
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    candidates.into_iter().find(is_free).expect("a free port")
}

/// A folder for a server, which removes it.
fn folder() -> PathBuf {
    let folder = tempfile::Builder::new().prefix("nivis-server-").tempdir();
    let folder = folder.unwrap().keep();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[expect(
    clippy::disallowed_methods,
    reason = "servers of other people, to talk to"
)]
fn command(program: &Path) -> Command {
    Command::new(program)
}

/// Runs a command that listens at `port`, in `folder`; waits until it does.
fn serve(folder: PathBuf, port: u16, server: &[&str]) -> Server {
    let life = command(Path::new("sh"))
        .arg(repository("tests/backends/serve.sh"))
        .arg(&folder)
        .args(server)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(120);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(Instant::now() < deadline, "{server:?}: {}", log());
        std::thread::sleep(Duration::from_millis(20));
    }
    Server {
        port,
        folder,
        _life: life,
    }
}

/// A PostgreSQL that knows a user `nivis` with the password `secret` and that user's database; its name is `nivis` too.
pub(super) fn postgres() -> Option<&'static Server> {
    static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| {
        let installed = std::fs::read_dir("/usr/lib/postgresql").ok()?;
        let bin = installed
            .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
            .max()?;
        let (folder, port) = (folder(), free_port());
        let data = folder.join("data");
        std::fs::create_dir(&data).unwrap();
        overwrite(&folder.join("password"), b"secret").unwrap();
        // It refuses to run as root.
        let root = std::fs::metadata(&folder).unwrap().uid() == 0;
        let mut whole: Vec<String> = Vec::new();
        if root {
            chown(&data, Some(NOBODY), Some(NOBODY)).unwrap();
            for word in [
                "setpriv",
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
            ] {
                whole.push(word.to_owned());
            }
        }
        let with = |words: &[String]| -> Vec<String> { [&whole[..], words].concat() };
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        let initdb = with(&[
            text(&bin.join("initdb")),
            "--auth=scram-sha-256".to_owned(),
            "--username=nivis".to_owned(),
            "--no-sync".to_owned(),
            "--encoding=UTF8".to_owned(),
            "--no-locale".to_owned(),
            format!("--pwfile={}", text(&folder.join("password"))),
            text(&data),
        ]);
        let made = command(Path::new(&initdb[0]))
            .args(&initdb[1..])
            .current_dir("/")
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let server = with(&[
            text(&bin.join("postgres")),
            "-D".to_owned(),
            text(&data),
            format!("-cport={port}"),
            "-clisten_addresses=127.0.0.1".to_owned(),
            "-cunix_socket_directories=".to_owned(),
            "-cfsync=off".to_owned(),
            "-cmax_connections=200".to_owned(),
        ]);
        let words: Vec<&str> = server.iter().map(String::as_str).collect();
        let server = serve(folder, port, &words);
        // It listens before it lets anybody in.
        let deadline = Instant::now() + Duration::from_secs(60);
        while psql(&server, "SELECT 1").is_err() {
            assert!(Instant::now() < deadline, "nobody is let in");
            std::thread::sleep(Duration::from_millis(50));
        }
        psql(&server, "CREATE DATABASE nivis").unwrap();
        Some(server)
    });
    if SERVER.is_none() {
        skip("there is no PostgreSQL; `scripts/setup.sh test` installs it");
    }
    SERVER.as_ref()
}

/// Has PostgreSQL's own client carry out a statement in the database `postgres`, or another that the URL names.
fn psql(server: &Server, statement: &str) -> Result<String, String> {
    psql_in(server, "postgres", statement, b"")
}

/// As `psql`, in this database, with this input.
pub(super) fn psql_in(
    server: &Server,
    database: &str,
    statement: &str,
    input: &[u8],
) -> Result<String, String> {
    use std::io::Write as _;
    let mut child = command(Path::new("psql"))
        .args(["-X", "-q", "-t", "-A", "-h", "127.0.0.1", "-U", "nivis"])
        .args(["-p", &server.port.to_string(), "-d", database])
        .args(["-v", "ON_ERROR_STOP=1", "-c", statement])
        .env("PGPASSWORD", "secret")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A server that speaks like S3: the bucket `states` is a folder of it. It knows `anna`, whose secret is `secretsecret`.
pub(super) fn s3() -> Option<&'static Server> {
    static SERVER: LazyLock<Option<Server>> = LazyLock::new(|| {
        let program = repository(".cache/bin/versitygw");
        program.exists().then(|| {
            let (folder, port) = (folder(), free_port());
            std::fs::create_dir_all(folder.join("data/states")).unwrap();
            let (address, data) = (format!("127.0.0.1:{port}"), folder.join("data"));
            let words = [
                program.to_str().unwrap(),
                "--access=anna",
                "--secret=secretsecret",
                "--port",
                &address,
                "--quiet",
                "posix",
                data.to_str().unwrap(),
            ];
            serve(folder.clone(), port, &words)
        })
    });
    if SERVER.is_none() {
        skip("there is no versitygw; `scripts/setup.sh test` builds it");
    }
    SERVER.as_ref()
}

/// Credentials for [`s3`].
pub(super) fn s3_environment() -> BTreeMap<String, String> {
    [
        ("AWS_ACCESS_KEY_ID", "anna"),
        ("AWS_SECRET_ACCESS_KEY", "secretsecret"),
        ("AWS_REGION", "us-east-1"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}
