//! A topic as bytes: what a crawl keeps of its topic, and what `rhumb topic train` writes.
//!
//! `rhumb topic 1`, a line; then each part: a byte for its kind, the length of what follows as a
//! little-endian u32, and that; at the end an xxh3 of all before. A linear model is five
//! little-endian f32 (scale, bias, middle and reach of its curve, and one to come) and its weights.
//! A model of fastText is the name of its label, a nought, and the file as fastText wrote it.

use crate::calibration::Calibration;
use crate::fasttext::FastText;
use crate::features::BUCKETS;
use crate::linear::Linear;
use crate::naming::{TopicPattern, TopicWords};
use crate::topic::{Topic, TopicPart};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8] = b"rhumb topic 1\n";
const SUM_BYTES: usize = 8;
const NUMBERS: usize = 5;
/// Parts of a topic.
const PARTS_MAX: usize = 64;

const WORDS: u8 = b'w';
const PATTERN: u8 = b'r';
const LEARNT: u8 = b'm';
const FAST_TEXT: u8 = b'f';
/// A part's length is a u32.
const PART_BYTES_MAX: usize = u32::MAX as usize;

/// Whether bytes begin as a topic does.
pub fn is_topic(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// A model of fastText that fits into a part.
pub fn fast_text(bytes: Vec<u8>, label: &str) -> Result<Topic, String> {
    if bytes.len() + label.len() >= PART_BYTES_MAX {
        return Err("models of 4 GiB and more are not read".to_owned());
    }
    let model = FastText::read(bytes.into(), label)?;
    Ok(Topic::of(TopicPart::FastText(Box::new(model))))
}

pub fn write(topic: &Topic) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for part in &topic.parts {
        let (kind, body) = match part {
            TopicPart::Words(words) => {
                let phrases: Vec<String> = words.phrases.iter().map(|p| p.join(" ")).collect();
                (WORDS, phrases.join(",").into_bytes())
            }
            TopicPart::Pattern(pattern) => (PATTERN, pattern.as_str().as_bytes().to_vec()),
            TopicPart::Learnt(model) => (LEARNT, model_bytes(model)),
            TopicPart::FastText(model) => {
                let (bytes, label) = model.parts();
                (FAST_TEXT, [label.as_bytes(), b"\0", bytes].concat())
            }
        };
        bytes.push(kind);
        bytes.extend((body.len() as u32).to_le_bytes());
        bytes.extend(body);
    }
    let sum = xxh3_64(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn model_bytes(model: &Linear) -> Vec<u8> {
    let curve = model.calibration;
    let numbers = [model.scale(), model.bias, curve.middle, curve.reach, 0.0f32];
    let mut bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend(model.weights().iter().map(|w| *w as u8));
    bytes
}

/// Reads a topic; what is wrong with the bytes otherwise.
pub fn read(bytes: &[u8]) -> Result<Topic, &'static str> {
    let damaged = "it is damaged, or cut short";
    if !is_topic(bytes) {
        return Err("it is no topic that rhumb has made");
    }
    let (whole, sum) = bytes.split_last_chunk::<SUM_BYTES>().ok_or(damaged)?;
    if xxh3_64(whole) != u64::from_le_bytes(*sum) {
        return Err(damaged);
    }
    let mut rest = whole.strip_prefix(MAGIC).ok_or(damaged)?;
    let mut topic = Topic::default();
    while let Some((kind, after)) = rest.split_first() {
        let (len, after) = after.split_first_chunk::<4>().ok_or(damaged)?;
        let (body, after) =
            after.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or(damaged)?;
        if topic.parts.len() == PARTS_MAX {
            return Err("it has too many parts");
        }
        topic.parts.push(part(*kind, body).ok_or(damaged)?);
        rest = after;
    }
    if topic.parts.is_empty() { Err("it has no parts") } else { Ok(topic) }
}

fn part(kind: u8, body: &[u8]) -> Option<TopicPart> {
    let text = || std::str::from_utf8(body).ok();
    match kind {
        WORDS => {
            let words = TopicWords::parse(text()?);
            (!words.phrases.is_empty()).then_some(TopicPart::Words(words))
        }
        PATTERN => TopicPattern::parse(text()?).ok().map(TopicPart::Pattern),
        FAST_TEXT => {
            let end = body.iter().position(|byte| *byte == 0)?;
            let (label, bytes) = (std::str::from_utf8(&body[..end]).ok()?, &body[end + 1..]);
            FastText::read(bytes.into(), label).ok().map(|m| TopicPart::FastText(Box::new(m)))
        }
        LEARNT => {
            let (numbers, weights) = body.split_at_checked(NUMBERS * 4)?;
            let mut numbers =
                numbers.chunks_exact(4).map(|n| f32::from_le_bytes([n[0], n[1], n[2], n[3]]));
            let (scale, bias) = (numbers.next()?, numbers.next()?);
            let calibration = Calibration { middle: numbers.next()?, reach: numbers.next()? };
            let is_curve = calibration.middle.is_finite() && calibration.reach > 0.0;
            let weights: Vec<i8> = weights.iter().map(|w| *w as i8).collect();
            let model = Linear::of_parts(weights, scale, bias, calibration)?;
            (is_curve && model.weights().len() == BUCKETS)
                .then(|| TopicPart::Learnt(Box::new(model)))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::TextFeatures;

    #[test]
    fn what_is_read_is_what_was_written_and_garbage_is_refused() {
        let calibration = Calibration { middle: 0.5, reach: 0.25 };
        let weights: Vec<f32> = (0..BUCKETS).map(|n| (n % 7) as f32 - 3.0).collect();
        let model = TopicPart::Learnt(Box::new(Linear::rounded(&weights, 0.1, calibration)));
        let words = TopicPart::Words(TopicWords::parse("solar energy, wind"));
        let pattern = TopicPart::Pattern(TopicPattern::parse("(wave|tide)s?").unwrap());
        let topic = Topic { parts: vec![words, pattern, model] };
        let bytes = write(&topic);
        let back = read(&bytes).unwrap();
        let mut features = TextFeatures::default();
        for text in ["solar energy", "the tides", "nothing of it", ""] {
            assert_eq!(back.score(text, &mut features), topic.score(text, &mut features));
        }
        for cut in [0, 5, MAGIC.len(), 40, bytes.len() / 2, bytes.len() - 1] {
            assert!(read(&bytes[..cut]).is_err(), "cut at {cut}");
        }
        for at in [MAGIC.len(), 60, bytes.len() - 1] {
            let mut wrong = bytes.clone();
            wrong[at] ^= 0x40;
            assert!(read(&wrong).is_err(), "changed at {at}");
        }
        assert!(read(b"\x7fELF").is_err());
    }
}
