//! PNG: pixels into a file.

use std::io::Write as _;

use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// Writes pixels (red, green, blue, row by row) as a PNG.
pub fn write_png(width: u32, height: u32, pixels: &[[u8; 3]]) -> Vec<u8> {
    let mut rows = Vec::with_capacity(pixels.len() * 3 + height as usize);
    for row in pixels.chunks(width as usize) {
        // Each byte as the difference from the pixel to the left packs well.
        rows.push(1);
        let mut left = [0_u8; 3];
        for pixel in row {
            rows.extend((0..3).map(|channel| pixel[channel].wrapping_sub(left[channel])));
            left = *pixel;
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let _ = packed.write_all(&rows);
    let packed = packed.finish().unwrap_or_default();
    let mut header = Vec::new();
    header.extend_from_slice(&width.to_be_bytes());
    header.extend_from_slice(&height.to_be_bytes());
    header.extend_from_slice(&[8, 2, 0, 0, 0]);
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", header.as_slice()), (b"IDAT", &packed), (b"IEND", &[])] {
        file.extend_from_slice(&u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
        let mut checksum = Crc::new();
        checksum.update(kind);
        checksum.update(data);
        file.extend_from_slice(kind);
        file.extend_from_slice(data);
        file.extend_from_slice(&checksum.sum().to_be_bytes());
    }
    file
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_pixels_are_in_the_file() {
        let file = write_png(2, 1, &[[10, 20, 30], [11, 19, 30]]);
        assert_eq!(&file[12..16], b"IHDR");
        let start = 8 + 12 + 13 + 8;
        let length = u32::from_be_bytes(file[start - 8..start - 4].try_into().unwrap()) as usize;
        let mut rows = Vec::new();
        flate2::read::ZlibDecoder::new(&file[start..start + length]).read_to_end(&mut rows).unwrap();
        assert_eq!(rows, [1, 10, 20, 30, 1, 255, 0]);
        assert!(file.ends_with(b"IEND\xae\x42\x60\x82"));
    }
}
