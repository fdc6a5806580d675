//! The same folders give the same result, every time and on any number of cores.

use artel_catalog::{Keep, check_set, discover};

use crate::fixtures::fixtures;
use crate::place::everything;

fn load_all() -> Vec<String> {
    let discovery = discover(&fixtures(), Keep::Everything);
    let mut roots = [discovery.loaded];
    check_set(&mut roots, &[]);
    let findings = discovery.findings.iter().map(|finding| format!("{finding:?}"));
    findings.chain(roots[0].iter().map(everything)).collect()
}

#[test]
fn loading_gives_the_same_in_the_same_order() {
    let first = load_all();
    assert!(first.len() > 200);
    for _ in 0..10 {
        assert!(load_all() == first, "two loads differ");
    }
    for threads in [1, 2, 7, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        for _ in 0..3 {
            assert!(pool.install(load_all) == first, "{threads} threads give another result");
        }
    }
}
