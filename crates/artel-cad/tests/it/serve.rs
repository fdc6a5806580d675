//! The real program with a folder of its own.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use artel_cad::kernel::{ModuleCache, Occt};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Returns the folder of the compiled kernel, which all tests share; the first one compiles it.
pub(crate) fn kernel_cache() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("artel-cad-kernel")
}

/// Returns the kernel in this process, for tests that need no workspaces.
pub(crate) fn kernel() -> Occt {
    let module = ModuleCache::new(kernel_cache()).load(|| ()).unwrap();
    Occt::new(&module, 1 << 30).unwrap()
}

/// A running `artel-cad serve`.
pub(crate) struct Cad {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    next_id: u64,
    _folder: Option<TempDir>,
}

impl Cad {
    /// Starts with an empty folder.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut cad = Self::start_in(folder.path(), &[]);
        cad._folder = Some(folder);
        cad
    }

    /// Starts with a folder and more options.
    pub(crate) fn start_in(folder: &Path, options: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_artel-cad"))
            .arg("serve")
            .arg("--data")
            .arg(folder)
            .arg("--cache")
            .arg(kernel_cache())
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output, next_id: 0, _folder: None }
    }

    /// Sends a line as it is.
    pub(crate) fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    /// Reads the next answer.
    pub(crate) fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// Calls a method; the error is the whole error object.
    pub(crate) fn try_call(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        let mut answer = self.receive();
        assert_eq!(answer["id"], json!(id), "{answer}");
        match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["result"].take()),
        }
    }

    /// Calls a method that must work.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.try_call(method, params.clone()).unwrap_or_else(|error| panic!("{method} {params}: {error:#}"))
    }

    /// Calls a method that must be refused with a code, and returns the message.
    #[track_caller]
    pub(crate) fn refused(&mut self, method: &str, params: Value, code: &str) -> String {
        let error = self.try_call(method, params).expect_err("it was not refused");
        assert_eq!(error["data"]["code"], json!(code), "{error:#}");
        error["message"].as_str().unwrap().to_owned()
    }

    /// Runs another command to its end. Returns whether it worked, and what it printed.
    pub(crate) fn run(folder: &Path, arguments: &[&str]) -> (bool, String) {
        let output = Command::new(env!("CARGO_BIN_EXE_artel-cad"))
            .args(arguments)
            .arg("--data")
            .arg(folder)
            .arg("--cache")
            .arg(kernel_cache())
            .output()
            .unwrap();
        (output.status.success(), String::from_utf8(output.stdout).unwrap())
    }

    /// Ends it the hard way.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the input and waits for the end.
    pub(crate) fn end(&mut self) -> bool {
        drop(self.input.take());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Cad {
    fn drop(&mut self) {
        drop(self.input.take());
        // It may have ended before; then there is nothing to wait for.
        let _ = self.child.wait();
    }
}

/// Asserts that a number is near another, relative to it.
#[track_caller]
pub(crate) fn near(found: &Value, expected: f64, relative: f64) {
    let found = found.as_f64().unwrap_or(f64::NAN);
    assert!((found - expected).abs() <= relative * expected.abs().max(1e-9), "{found}, not {expected}");
}
