//! A provider plugin that misbehaves when told to: the test suite's counterpart. Type prefix `fake_`.
//!
//! Types: resource and data source `fake_thing` (`resources.rs` says what each attribute does), ephemeral resource `fake_login` and
//! the functions `join`, `fail` and `describe` (`transient.rs`); provider arguments `region`
//! (appears in every thing), `endpoint`, `token`, `record`.
//!
//! It is told by environment variables what to be:
//!
//! | variable | meaning |
//! |---|---|
//! | `FAKE_PROTOCOL` | `5` or `6`; otherwise the greatest the host offers |
//! | `FAKE_RECORD` | path of the record of what exists (also provider argument `record`) |
//! | `FAKE_CALLS` | path of the call log |
//! | `FAKE_ENDS` | path of the list of processes that ended by themselves, a JSON line each: `{"pid":1}` |
//! | `FAKE_FAULTS` | path of the faults, read again at every call; no file, no faults |
//! | `FAKE_PLAN_DESTROY` | anything: destroys want to be planned (server capability) |
//! | `FAKE_IDENTITY_VERSION` | version of the identity schema; 0 without it |
//! | `FAKE_SCHEMA_MIB` | so many mebibytes of schemas of types that nobody uses |
//! | `FAKE_HANDSHAKE` | how to spoil the start: `junk`, `none`, `exit`, `wrong_core`, `wrong_protocol`, `netrpc`, `no_tls`, `slow` (200 ms late), `flood` (1 MiB to stderr first) |
//!
//! **Record**: one JSON line for each thing made, changed or unmade:
//! `{"op":"create"|"update"|"delete","type":"fake_thing","id":"a-1","object":{…}}`. The last line about an id counts. It
//! is the remote world: a thing whose last line is `delete`, or that has none, is gone when read; attributes in the last
//! line's `object` are what a read finds, so a test that appends a line makes drift. Ids are `<name>-<n>`, counting
//! the creations under that name. Without a record nothing is gone and nothing drifts.
//!
//! **Calls**: one JSON line for each call: `{"rpc":"PlanResourceChange","pid":1,"type":"fake_thing","config":{…},…}` with
//! the objects of the request (`config`, `prior`, `proposed`, `planned`, `current`, `stored`), `private` as text and `id`
//! (import). Unknown values are `{"__unknown":true}`.
//!
//! **Faults**: a JSON array; the first that fits a call is carried out:
//! `{"on":"apply","type":"fake_thing","match":{"name":"a"},"do":"error","legacy":true}`. `type`, `match` and `legacy` may be
//! missing. `match` compares attributes of the first object there is of config, planned, proposed, prior, current. `on` is
//! `schema`, `validate_provider`, `configure`, `validate`, `validate_data`, `upgrade`, `read`, `plan`, `apply` (any of `create`,
//! `update`, `delete`, which can be named too), `import`, `move`, `read_data`, `open`, `renew`, `close`, `call` or `stop`. `legacy` marks
//! the answer as that of an old SDK.
//! `do` is one of:
//!
//! | `do` | effect |
//! |---|---|
//! | `die` | panic text on stderr and exit 2, before anything is done |
//! | `die_after` | the same after the work is done and recorded |
//! | `error` | an error diagnostic at attribute `name`; nothing is done |
//! | `error_with_object` | the work is done, and the answer has an error beside the object |
//! | `warning` | a warning diagnostic at attribute `name`, all else as usual |
//! | `unavailable` | the call itself fails |
//! | `hang` | no answer, ever |
//! | `wait_stop` | no answer until `StopProvider`, then an error; nothing is done |
//! | `slow:<ms>` | that much later |
//! | `inconsistent` | `value` of the returned object is `"inconsistent"` |
//! | `forbidden_plan` | `name` of the returned object is `"forbidden"` |
//! | `unknown_after_apply` | `echo` of the returned object is unknown |
//! | `wrong_type` | the returned object has no attribute but `name` |
//! | `null` | the returned object is null |
//! | `absent` | the answer has no object at all |
//! | `change_private` | the returned private bytes are `changed` |
//! | `replace` | a plan asks to replace because of `name` |
//! | `replace_nowhere` | a plan asks to replace because of attribute `no_such` |
//! | `replace_unseen` | a plan asks to replace because of the write-only `secret_wo` |
//! | `refine` | a plan promises that `id` will begin with `never-` |
//! | `keep` | a removal is not carried out: the answer holds the object as it was |
//! | `defer` | the answer says that the operation is deferred |
//! | `several` | an import finds the thing twice |
//! | `other_type` | an import says that what it found is a `fake_other` |
//! | `flood` | 1 MiB of log lines on stderr, then as usual |
//!
//! It also checks its host, and answers with an error "host mistake: …" when a call comes before the schema was fetched or before
//! the provider was configured, when it is configured twice, when it comes without the provider's metadata, when a configuration holds a marker that should have been resolved
//! (`__ref`, `__derived`, `__build`, `__sensitiveRef`), when private bytes got lost, when a configuration is applied that is not
//! wholly known, or when a process that was configured with an unknown `endpoint` is used to apply.

mod call;
mod fake;
mod faults;
mod resources;
mod serve;
#[cfg(test)]
mod tests;
mod transient;
mod world;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use nivis::builtin::{self, HostEnvironment};
use serde_json::json;

/// Lines of 64 bytes in one mebibyte.
const FLOOD_LINES: usize = (1 << 20) / 64;

#[tokio::main]
async fn main() -> ExitCode {
    let vars: Vec<(OsString, OsString)> = std::env::vars_os().collect();
    let var = |name: &str| {
        let found = vars.iter().find(|(k, _)| k == name);
        found.map(|(_, v)| v.to_string_lossy().into_owned())
    };
    let mut environment = HostEnvironment::from_vars(vars.clone());
    if let Some(end) = spoil_start(var("FAKE_HANDSHAKE").as_deref(), &mut environment).await {
        return end;
    }
    let protocol = match var("FAKE_PROTOCOL").as_deref() {
        Some("5") => 5,
        Some("6") => 6,
        _ if environment.protocols.contains(&6) => 6,
        _ => 5,
    };
    let fake = fake::Fake::new(fake::Options {
        protocol,
        plan_destroy: var("FAKE_PLAN_DESTROY").is_some(),
        identity_version: var("FAKE_IDENTITY_VERSION")
            .and_then(|v| v.parse().ok())
            .unwrap_or(0),
        filler: var("FAKE_SCHEMA_MIB")
            .and_then(|v| v.parse().ok())
            .unwrap_or(0),
        record: var("FAKE_RECORD").map(Into::into),
        calls: var("FAKE_CALLS").map(Into::into),
        faults: var("FAKE_FAULTS").map(Into::into),
    });
    let served = builtin::serve(fake, &[protocol], &environment).await;
    let ended = served.map_err(|e| e.to_string()).and_then(|()| {
        let line = json!({"pid": std::process::id()});
        var("FAKE_ENDS").map_or(Ok(()), |path| world::append(path.as_ref(), &line))
    });
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}

/// Carries out what `FAKE_HANDSHAKE` says; gives the exit code if the process is to end now.
async fn spoil_start(how: Option<&str>, environment: &mut HostEnvironment) -> Option<ExitCode> {
    let line = match how? {
        "junk" => "I am not a plugin\n",
        "wrong_core" => "2|6|unix|/nowhere|grpc|\n",
        "wrong_protocol" => "1|4|unix|/nowhere|grpc|\n",
        "netrpc" => "1|5|unix|/nowhere|netrpc|\n",
        "none" => "",
        "exit" => {
            let _ = writeln!(std::io::stderr(), "fake provider: told to exit");
            return Some(ExitCode::from(3));
        }
        "slow" => {
            tokio::time::sleep(Duration::from_millis(200)).await;
            return None;
        }
        "no_tls" => {
            environment.certificate = None;
            return None;
        }
        "flood" => {
            flood();
            return None;
        }
        other => {
            let _ = writeln!(std::io::stderr(), "FAKE_HANDSHAKE={other} means nothing");
            return Some(ExitCode::FAILURE);
        }
    };
    let mut stdout = std::io::stdout();
    let _ = stdout
        .write_all(line.as_bytes())
        .and_then(|()| stdout.flush());
    std::future::pending().await
}

/// Writes 1 MiB of log lines to stderr: a host that does not read them blocks us.
fn flood() {
    let line = format!(
        "{:<63}\n",
        "[TRACE] fake provider: a line that nobody wants to see"
    );
    let _ = std::io::stderr().write_all(line.repeat(FLOOD_LINES).as_bytes());
}

/// Ends as a plugin written in Go does when it crashes.
fn die() -> ! {
    let text = "panic: fake provider was told to die\n\ngoroutine 1 [running]:\nmain.main()\n";
    let _ = std::io::stderr().write_all(text.as_bytes());
    #[expect(clippy::exit, reason = "this is the crash that was asked for")]
    std::process::exit(2)
}
