//! The oracle: a Go program that answers with the value library of OpenTofu and Terraform.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

pub(super) struct Oracle {
    child: Child,
    // Taken when the oracle is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Oracle {
    pub(super) fn start() -> Self {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/bin/oracle");
        assert!(
            program.exists(),
            "the value oracle is not built: run `make setup` (or tests/oracle/build.sh, which needs Go)"
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "a test helper, not a child of the program"
        )]
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
        }
    }

    pub(super) fn ask(&mut self, request: &Json) -> Json {
        let mut line = request.to_string();
        line.push('\n');
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap_or_else(|e| panic!("{e}: {answer:?} to {line}"))
    }
}

impl Drop for Oracle {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.wait();
    }
}

pub(super) fn to_base64(bytes: &[u8]) -> Json {
    json!(STANDARD.encode(bytes))
}

pub(super) fn from_base64(json: &Json) -> Vec<u8> {
    STANDARD.decode(json.as_str().unwrap()).unwrap()
}
