//! A server is stopped while runs go on: the next one goes on with them, the same on every store.

use crate::fault_place::{FaultPlace, Kind, Steps, TOKEN, status};
use crate::running::{eventually, send_signal};

const STORES: [Kind; 2] = [Kind::Sqlite, Kind::Postgres];

/// Running steps are stopped at once.
const NO_PATIENCE: &str = "shutdown_grace = 0\n[run]\ngrace_ms = 10\n";

#[test]
fn a_server_that_is_stopped_leaves_its_runs_to_the_next_one() {
    for store in STORES {
        let place = FaultPlace::new(store);
        place.chain(&["a", "gate", "c"], Steps::Idempotent);
        place.configure(NO_PATIENCE);
        let served = place.serve();
        let run = place.start(&served);
        place.wait_for_marks(2);
        assert_eq!(served.stop().0, Some(0), "{store:?}");
        let runs = place.session.json(&["run", "list"]);
        assert_eq!(runs["items"][0]["driven"], false, "{store:?}: {runs}");

        let next = place.serve();
        place.wait_for_marks(3);
        assert_eq!(status(&next, &run)["driven"], true, "{store:?}");
        place.open_gate();
        place.wait_for_state(&next, &run, "succeeded");
        assert_eq!(place.marks(), ["a", "gate", "gate", "c"], "{store:?}");
    }
}

#[test]
fn runs_of_another_data_folder_are_not_left_over() {
    let place = FaultPlace::new(Kind::Postgres);
    place.chain(&["gate"], Steps::Idempotent);
    let there = place.database.as_ref().unwrap().session();
    // It has had an owner of its own, so it has an id.
    assert_eq!(there.json(&["run", "recover"])["items"], serde_json::json!([]));
    let served = place.serve();
    let run = place.start(&served);
    place.wait_for_marks(1);
    let listed = there.json(&["run", "list"]);
    assert_eq!((&listed["items"][0]["run_id"], &listed["items"][0]["driven"]), (&run.into(), &true.into()));
    assert!(!there.run(&["run", "list"]).contains("left over"));
    assert_eq!(there.json(&["run", "recover"])["items"], serde_json::json!([]));
    place.open_gate();
}

#[test]
fn crashes_leave_one_lock_file_at_most() {
    for store in STORES {
        let place = FaultPlace::new(store);
        for _ in 0..3 {
            let served = place.serve();
            send_signal("KILL", served.process());
            drop(served);
        }
        let served = place.serve();
        let owners = place.session.path().join(".artel/owners").read_dir_utf8().unwrap().count();
        // The launcher of the last one that was killed may still hold its lock.
        assert!(owners <= 2, "{store:?}: {owners}");
        drop(served);
    }
}

#[test]
fn a_step_that_must_not_be_repeated_fails_as_interrupted() {
    for store in STORES {
        let place = FaultPlace::new(store);
        place.chain(&["gate", "b"], Steps::Once);
        place.configure(NO_PATIENCE);
        let served = place.serve();
        let run = place.start(&served);
        place.wait_for_marks(1);
        assert_eq!(served.stop().0, Some(0), "{store:?}");
        let next = place.serve();
        place.wait_for_state(&next, &run, "failed");
        let result = place.session.json(&["run", "show", &run]);
        let error = result["executionTrace"][0]["error"]["message"].as_str().unwrap();
        assert!(error.starts_with("interrupted by shutdown"), "{store:?}: {error}");
        assert_eq!(place.marks(), ["gate"], "{store:?}");
    }
}

#[test]
fn running_steps_may_end_while_nothing_new_begins() {
    for store in STORES {
        let place = FaultPlace::new(store);
        place.chain(&["gate", "b"], Steps::Once);
        let served = place.serve();
        let run = place.start(&served);
        place.wait_for_marks(1);
        send_signal("TERM", served.process());
        eventually("the server drains", || served.get("/readyz", "").0 == 503);
        assert!(served.get("/readyz", "").1.contains("draining"));
        assert_eq!(served.get("/healthz", "").0, 200);
        let (status, body) = served.post("/api/plans/run", TOKEN, &place.session.read("plan.json"));
        assert!(status == 503 && body.contains("draining"), "{store:?}: {status} {body}");
        let (status, body) = served.post("/api/agents", TOKEN, r#"{"skill": "mark"}"#);
        assert!(status == 503 && body.contains("draining"), "{store:?}: {status} {body}");
        place.open_gate();
        assert_eq!(served.ended(), Some(0), "{store:?}");
        let events =
            String::from_utf8(place.session.output(&["run", "show", &run, "--events"]).stdout).unwrap();
        assert!(events.contains(r#""type":"ended""#), "{store:?}: {events}");
        assert!(!events.contains("interrupted"), "{store:?}: {events}");
        let next = place.serve();
        place.wait_for_state(&next, &run, "succeeded");
        assert_eq!(place.marks(), ["gate", "b"], "{store:?}");
    }
}

#[test]
fn a_second_signal_ends_running_steps_at_once() {
    let place = FaultPlace::new(Kind::Sqlite);
    place.chain(&["gate", "b"], Steps::Idempotent);
    place.configure("shutdown_grace = 3600\n[run]\ngrace_ms = 10\n");
    let served = place.serve();
    let run = place.start(&served);
    place.wait_for_marks(1);
    send_signal("TERM", served.process());
    eventually("the server drains", || served.get("/readyz", "").0 == 503);
    assert_eq!(served.stop().0, Some(0));
    let events = String::from_utf8(place.session.output(&["run", "show", &run, "--events"]).stdout).unwrap();
    assert!(events.contains(r#""because":"shutdown""#), "{events}");
    let next = place.serve();
    place.wait_for_marks(2);
    place.open_gate();
    place.wait_for_state(&next, &run, "succeeded");
    assert_eq!(place.marks(), ["gate", "gate", "b"]);
}
