//! What goes in comes out again, of two independent readers, and never gets much longer.

use super::Deflater;
use std::io::Read;

fn check(deflater: &mut Deflater, input: &[u8], what: &str) -> usize {
    let mut packed = b"before".to_vec();
    deflater.deflate(input, &mut packed);
    let packed = packed.strip_prefix(b"before").expect("appends");
    assert!(packed.len() <= input.len() + 10 + 5 * (input.len() >> 15), "{what}: expands");
    let mut plain = Vec::new();
    let mut reader = flate2::bufread::DeflateDecoder::new(packed);
    reader.read_to_end(&mut plain).unwrap_or_else(|e| panic!("{what}: {e}"));
    assert!(plain == input, "{what}: differs");
    assert_eq!(reader.total_in() as usize, packed.len(), "{what}: bytes left");
    let mut plain = vec![0; input.len() + 1];
    let length = libdeflater::Decompressor::new().deflate_decompress(packed, &mut plain);
    let length = length.unwrap_or_else(|e| panic!("{what}: {e:?}"));
    assert!(plain[..length] == *input, "{what}: differs");
    let mut again = Vec::new();
    Deflater::default().deflate(input, &mut again);
    assert!(again == packed, "{what}: depends on what came before");
    packed.len()
}

struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 11) as usize % n
    }

    fn bytes(&mut self, n: usize) -> Vec<u8> {
        (0..n).map(|_| (self.next() >> 24) as u8).collect()
    }
}

fn html(chance: &mut Chance, bytes: usize) -> Vec<u8> {
    let words: Vec<String> = (0..300).map(|i| format!("w{}o{}", i * 7 % 90, i)).collect();
    let mut page = String::from("<!DOCTYPE html>\n<html><body>");
    while page.len() < bytes {
        page.push_str("<p class=\"text\">");
        for _ in 0..30 {
            page.push_str(&words[chance.below(300)]);
            page.push(' ');
        }
        page.push_str(&format!("<a href=\"/p/{}\">", chance.below(9999)));
        page.push_str("more</a></p>\n");
    }
    page.truncate(bytes);
    page.into_bytes()
}

#[test]
fn small_inputs_come_out_as_they_went_in() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(7));
    assert_eq!(check(&mut deflater, b"", "empty"), 2);
    for n in 0..600 {
        check(&mut deflater, &chance.bytes(n), "noise");
        check(&mut deflater, &vec![b'x'; n], "one letter");
        check(&mut deflater, &html(&mut Chance(n as u64 + 1), n), "page");
    }
}

#[test]
fn inputs_that_end_near_the_border_of_a_block_come_out_whole() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(9));
    let page = html(&mut chance, 200_000);
    let noise = chance.bytes(200_000);
    for border in [32_768, 65_535, 65_536, 98_304, 131_072, 163_840] {
        for n in border - 25..border + 25 {
            check(&mut deflater, &page[..n], "page");
        }
        for n in border - 2..border + 3 {
            assert!(check(&mut deflater, &noise[..n], "noise") >= n);
            check(&mut deflater, &vec![0; n], "zeros");
        }
    }
}

#[test]
fn a_mebibyte_of_zeros_takes_less_than_4_kb() {
    let size = check(&mut Deflater::default(), &vec![0; 1 << 20], "a MiB of zeros");
    assert!(size < 4_000, "{size}");
}

#[test]
fn codes_that_would_be_too_long_are_shortened() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(11));
    let all: Vec<u8> = (0..=255).cycle().take(5_000).collect();
    check(&mut deflater, &all, "all bytes");
    // Frequencies as of Fibonacci make codes as long as they get.
    let mut skewed = Vec::new();
    let (mut a, mut b) = (1usize, 1usize);
    for byte in 0..23u8 {
        skewed.extend(std::iter::repeat_n(byte, a));
        (a, b) = (b, a + b);
    }
    for i in (1..skewed.len()).rev() {
        skewed.swap(i, chance.below(i + 1));
    }
    check(&mut deflater, &skewed, "skewed");
    check(&mut deflater, &skewed[..60_000], "skewed");
}

#[test]
fn every_period_is_repeated_rightly() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(13));
    for period in 1..=300 {
        let unit = chance.bytes(period);
        let input: Vec<u8> = unit.iter().copied().cycle().take(3_000 + period).collect();
        check(&mut deflater, &input, "periodic");
    }
}

#[test]
fn matches_reach_as_far_as_the_format_allows_and_no_farther() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(17));
    let unit = chance.bytes(400);
    for distance in [32_766, 32_767, 32_768, 32_769, 40_000, 65_535, 65_536] {
        for before in [0, 1, 100, 30_000, 33_000, 66_000] {
            let mut input = chance.bytes(before);
            input.extend(&unit);
            input.extend(chance.bytes(distance - unit.len()));
            input.extend(&unit);
            check(&mut deflater, &input, "far");
        }
    }
}

#[test]
fn the_window_is_used_to_its_end() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(23));
    let unit = chance.bytes(100);
    let mut sizes = [32_768, 32_769].map(|distance| {
        let zeros = vec![0; distance - unit.len()];
        let input = [&unit[..], &zeros, &unit, &[1; 30]].concat();
        check(&mut deflater, &input, "window")
    });
    sizes[0] += 70;
    assert!(sizes[0] < sizes[1], "{sizes:?}");
}

#[test]
fn matches_of_every_length_are_written_rightly() {
    let (mut deflater, mut chance) = (Deflater::default(), Chance(19));
    for length in 1..600 {
        let unit = chance.bytes(length);
        let input = [&unit[..], b"<>", &unit, b"[]", &unit].concat();
        check(&mut deflater, &input, "lengths");
        // The same at the very end, behind text that is packed well.
        let mut page = html(&mut chance, 500);
        page.extend(vec![b'.'; length]);
        check(&mut deflater, &page, "lengths");
    }
}

/// Noise, copies from anywhere before, runs and text, in any order.
#[test]
fn mixtures_of_noise_copies_runs_and_text_come_out_as_they_went_in() {
    let mut deflater = Deflater::default();
    for seed in 1..800 {
        let mut chance = Chance(seed * 0x9E37_79B9);
        let bytes = 1 << chance.below(19);
        let letters = 1 + chance.below(256);
        let mut input = Vec::new();
        while input.len() < bytes {
            let most = 1 << chance.below(10);
            let n = 1 + chance.below(most);
            match chance.below(4) {
                0 => input.extend((0..n).map(|_| chance.below(letters) as u8)),
                1 => input.extend(std::iter::repeat_n(chance.next() as u8, n)),
                2 => input.extend(html(&mut chance, n)),
                _ if input.is_empty() => input.push(1),
                _ => {
                    let back = 1 + chance.below(input.len().min(40_000));
                    (0..n).for_each(|_| input.push(input[input.len() - back]));
                }
            }
        }
        check(&mut deflater, &input, "mixture");
    }
}
