//! Random archives: whatever somebody uploads, what is taken stays inside the skill's folder and within the limits.

use std::io::{Cursor, Write as _};

use artel_catalog::shared::custom::{ZipCaps, files_of_zip, skill_path};
use bolero::check;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::mutate::Random;

/// How often a target runs in CI; `BOLERO_RANDOM_ITERATIONS` overrides it.
const ITERATIONS: usize = 2000;

const NAMES: [&str; 10] = [
    "SKILL.md",
    "demo/SKILL.md",
    "demo/scripts/run.sh",
    "a.txt",
    "../up",
    "/root",
    "a/../b",
    "demo/",
    "A.TXT",
    "skill.json",
];

/// Makes an archive of a few files with good and bad names.
fn archive(random: &mut Random) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for number in 0..random.below(4) {
        let method =
            if random.below(2) == 0 { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        let options = SimpleFileOptions::default().compression_method(method);
        // A name that is there already is refused by the writer.
        if writer.start_file(*random.pick(&NAMES), options).is_ok() {
            writer.write_all(&vec![b'x'; number * 300]).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

fn damage(bytes: &mut Vec<u8>, noise: &[u8], random: &mut Random) {
    for byte in noise.iter().take(random.below(8)) {
        if bytes.is_empty() {
            return;
        }
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = *byte,
            1 => bytes[at] ^= 1 << (byte % 8),
            2 => bytes.truncate(at),
            _ => bytes.insert(at, *byte),
        }
    }
}

#[test]
fn fuzz_archive() {
    let caps = ZipCaps { files_max: 8, bytes_max: 4096, ratio_max: 50 };
    check!().with_iterations(ITERATIONS).with_type::<(u64, Vec<u8>)>().for_each(|(seed, noise)| {
        let mut random = Random::new(*seed);
        let mut bytes = if random.below(8) == 0 { noise.clone() } else { archive(&mut random) };
        damage(&mut bytes, noise, &mut random);
        let Ok(found) = files_of_zip(&bytes, &caps) else { return };
        let total: usize = found.files.iter().map(|file| file.content.len()).sum();
        assert!(total <= caps.bytes_max && found.files.len() <= caps.files_max);
        assert!(found.files.is_sorted_by(|a, b| a.path < b.path));
        for file in &found.files {
            assert_eq!(skill_path(&file.path).as_deref(), Ok(file.path.as_str()));
        }
    });
}
