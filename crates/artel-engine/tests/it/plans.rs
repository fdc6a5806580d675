//! Plans with real scripts: what of a skill is looked at again before each attempt, and what attempts leave behind.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;

use artel_engine::{AssetStore, DataFolders, Pruned, SubmitError, Submitted, prune};
use artel_model::access::Viewer;
use artel_model::agent::Policy;
use artel_model::run::{Deadlines, Submission};
use artel_store::{HealthStore as _, RunStore as _};
use serde_json::json;

use crate::start::outside;
use crate::workplace::Workplace;

const DONE: &str = r#"echo '{"version":"0","type":"done","ok":true}'"#;

#[tokio::test]
async fn a_skill_that_changes_between_two_steps_is_not_run() {
    let waits = format!("read -r _ < \"$ARTEL_DATA_DIR/pipe\"\n{DONE}");
    let place = Workplace::new(&[("first", &waits), ("second", DONE)]).await;
    let pipe = place.data_of("first").join("pipe");
    assert!(outside("mkfifo").arg(&pipe).status().unwrap().success());
    let tools = json!([
        {"toolId": "a", "skill": "first"},
        {"toolId": "b", "skill": "second", "dependencies": ["a"], "retryPolicy": {"maxRetries": 0}},
    ]);
    let run = place.begin(tools).await;
    // Opening waits for the script to open the other end, so the first step runs from here on.
    let opened = tokio::task::spawn_blocking(move || fs::OpenOptions::new().write(true).open(pipe));
    let mut pipe = opened.await.unwrap().unwrap();
    fs::write(place.path("skills/second/SKILL.md"), "---\nname: second\ndescription: Else.\n---\n").unwrap();
    pipe.write_all(b"go on\n").unwrap();
    let expected = "b failed ToolExecutionFailed: skill `second@0.0.0` was changed or removed after the plan was made: plan again";
    assert_eq!(place.ended(run).await, ["a success", expected]);
}

#[tokio::test]
async fn a_run_goes_on_with_its_files_after_the_shelf_changed() {
    let waits = format!("read -r _ < \"$ARTEL_DATA_DIR/pipe\"\n{DONE}");
    let place = Workplace::new(&[("first", &waits), ("second", DONE), ("third", DONE)]).await;
    let pipe = place.data_of("first").join("pipe");
    assert!(outside("mkfifo").arg(&pipe).status().unwrap().success());
    let after = |id: &str, skill: &str| json!({"toolId": id, "skill": skill, "dependencies": ["a"]});
    let tools = json!([{"toolId": "a", "skill": "first"}, after("b", "second"), after("c", "third")]);
    let run = place.begin(tools).await;
    let opened = tokio::task::spawn_blocking(move || fs::OpenOptions::new().write(true).open(pipe));
    let mut pipe = opened.await.unwrap().unwrap();
    // There are no skills any more; the files of one of them are still there.
    place.put_on_shelf("nowhere");
    artel_engine::remove_folder(&place.path("skills/third")).unwrap();
    pipe.write_all(b"go on\n").unwrap();
    let ended = place.ended(run).await;
    assert_eq!(ended[..2], ["a success", "b success"]);
    let gone = "skill `third@0.0.0` was changed or removed after the plan was made: plan again";
    assert!(ended[2].starts_with("c failed") && ended[2].ends_with(gone), "{ended:?}");
}

#[tokio::test]
async fn attempts_have_a_folder_each_and_leave_none_behind_that_was_used() {
    let script = format!(
        "test -z \"$(ls -A)\" || exit 9\ntouch left\nmkdir -p a/b\ntest \"$HOME\" = \"$TMPDIR\" || exit 8\n{DONE}"
    );
    let place = Workplace::new(&[("messy", &script), ("clean", DONE)]).await;
    let tool = |id: &str, skill: &str| json!({"toolId": id, "skill": skill});
    let tools = json!([tool("a", "messy"), tool("b", "messy"), tool("c", "clean"), tool("d", "clean")]);
    assert_eq!(place.run(tools).await, ["a success", "b success", "c success", "d success"]);
    place.hands.tidied().await;
    let left: Vec<_> = place.path("work").read_dir_utf8().unwrap().map(Result::unwrap).collect();
    // Those that are empty wait for another attempt.
    assert!((1..=2).contains(&left.len()), "{left:?}");
    assert!(left.iter().all(|folder| folder.path().read_dir_utf8().unwrap().next().is_none()));
}

#[tokio::test]
async fn a_key_stands_for_one_plan() {
    let place = Workplace::new(&[("first", DONE)]).await;
    let tools = |number: u32| json!([{"toolId": "a", "skill": "first", "input": {"number": number}}]);
    let submit =
        async |submission: Submission, key: &str| place.engine.submit(submission, Some(key.to_owned())).await;
    let asked = place.submission(tools(1));
    let first = submit(asked.clone(), "k").await.unwrap();
    let Submitted::New(run) = first else { panic!("{first:?}") };
    // Another id and another deadline do not make it another plan.
    let mut again = place.submission_with_id("00000000-0000-4000-8000-000000000001", tools(1));
    again.deadlines = Deadlines { run_ms: 1 };
    assert_eq!(submit(again, "k").await.unwrap(), Submitted::Existing(run));
    let error = submit(place.submission(tools(2)), "k").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the key `k` was used before, for run {run}, which is a run of something else")
    );
    // Neither may a run that may do everything stand in for one that may not.
    let narrower = Submission { policy: Some(Policy::default()), ..asked.clone() };
    // Nor one of somebody else.
    let viewer = Viewer { user: "ann".parse().unwrap(), teams: BTreeSet::new() };
    let of_another = Submission { viewer: Some(viewer), ..asked };
    for other in [narrower, of_another] {
        let error = submit(other, "k").await.unwrap_err();
        assert!(matches!(error, SubmitError::KeyTaken { .. }), "{error:?}");
    }
    let other = submit(place.submission(tools(2)), "l").await.unwrap();
    assert!(matches!(other, Submitted::New(_)), "{other:?}");
}

#[tokio::test]
async fn what_could_not_be_started_counts_against_the_skill_that_is_to_blame() {
    let place = Workplace::new(&[("first", DONE), ("second", DONE)]).await;
    let interpreter = "#!/no/such/interpreter\n";
    fs::write(place.path("skills/first/scripts/run.sh"), interpreter).unwrap();
    let script = place.path("skills/second/scripts/run.sh");
    fs::write(
        script,
        "#!/bin/bash\necho '{\"version\":\"0\",\"type\":\"error\",\"errorCode\":\"dns-error\",\
        \"errorMessage\":\"no name\"}'\nexit 1\n",
    )
    .unwrap();
    let tool =
        |id: &str, skill: &str| json!({"toolId": id, "skill": skill, "retryPolicy": {"maxRetries": 0}});
    place.run(json!([tool("a", "first"), tool("b", "second")])).await;
    let health = place.store.health_counts().await.unwrap();
    let shown: Vec<String> =
        health.iter().map(|one| format!("{} {}", one.skill, one.counted.tally)).collect();
    assert_eq!(shown, ["first 1", "second 0t"]);
}

#[tokio::test]
async fn files_go_with_the_last_run_that_made_them() {
    let makes = format!(
        "read -r request\ncase $request in *old*) echo old > f;; *) echo both > f;; esac\n\
         echo '{{\"version\":\"0\",\"type\":\"asset\",\"assetId\":\"f\",\"kind\":\"text\",\
         \"mediaType\":\"text/plain\",\"path\":\"f\"}}'\n{DONE}"
    );
    let place = Workplace::new(&[("makes", &makes)]).await;
    let tool = |which: &str| json!([{"toolId": "a", "skill": "makes", "input": {"which": which}}]);
    let mut runs = Vec::new();
    for which in ["old", "both", "both"] {
        let run = place.begin(tool(which)).await;
        assert_eq!(place.ended(run).await, ["a success"]);
        runs.push(place.store.run(run).await.unwrap().unwrap().summary);
    }
    let kept = || {
        let folders = place.path("assets").read_dir_utf8().unwrap().map(|folder| folder.unwrap().into_path());
        let files = folders.flat_map(|folder| folder.read_dir_utf8().unwrap().map(Result::unwrap));
        let mut texts: Vec<String> = files.map(|file| fs::read_to_string(file.path()).unwrap()).collect();
        texts.sort();
        texts
    };
    assert_eq!(kept(), ["both\n", "old\n"]);
    let assets = AssetStore::new(place.path("assets"));
    let prune = async |before| {
        prune(&*place.store, &assets, &DataFolders::new(&place.path("data")), before).await.unwrap()
    };
    assert_eq!(prune(runs[0].created_at).await, Pruned { runs: 0, assets: 0 });
    // Older than they are, so that nothing depends on how fast this test is.
    place.make_old("assets");
    assert_eq!(prune(runs[2].completed_at.unwrap()).await, Pruned { runs: 2, assets: 1 });
    assert_eq!(kept(), ["both\n"]);
    let later = runs[2].completed_at.unwrap() + 1;
    assert_eq!(prune(later).await, Pruned { runs: 1, assets: 1 });
    assert_eq!(kept(), [""; 0]);
}
