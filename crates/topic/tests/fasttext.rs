//! Models that fastText has trained (`fixtures/make.py`): they say here what they say there.

use rhumb_topic::features::TextFeatures;
use rhumb_topic::file;
use rhumb_topic::{Topic, TopicPart};

const TEXTS: [&str; 6] = [
    "the moon draws the sea",
    "click here for cheap pills and win",
    "tides of the bay, unseen words here",
    "größe 東京 море",
    " \n ",
    "spring\ntides are\thigh",
];
/// As fastText 0.9.2 tells them, which adds 0.00001.
const BY_SOFTMAX: [f32; 6] = [1.000_006, 0.000_481, 0.984_348, 0.069_044, 0.074_040, 0.999_769];
const BY_EACH: [f32; 6] = [1.000_01, 0.003_604, 0.994_099, 0.355_785, 0.835_494, 1.000_01];
const ADDED: f32 = 0.000_01;

fn fixture(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/{name}.bin", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(path).expect("a model")
}

#[test]
fn texts_are_as_likely_of_the_label_as_fasttext_itself_says() {
    for (name, expected) in [("softmax", BY_SOFTMAX), ("ova", BY_EACH)] {
        let topic = file::fast_text(fixture(name), "hq").expect("a model");
        // What a crawl keeps of it says the same.
        let kept = file::read(&file::write(&topic)).expect("a topic");
        let mut features = TextFeatures::default();
        for (text, expected) in TEXTS.into_iter().zip(expected) {
            let said = topic.score(text, &mut features).relevance;
            assert!((said + ADDED - expected).abs() < 0.000_02, "{name}: {text:?}: {said}");
            assert_eq!(kept.score(text, &mut features).relevance, said);
        }
    }
    let other = file::fast_text(fixture("softmax"), "__label__cc").expect("a model");
    assert!(other.score(TEXTS[1], &mut TextFeatures::default()).relevance > 0.99);
    let Topic { parts } = &other;
    let [TopicPart::FastText(model)] = &parts[..] else { panic!("{other:?}") };
    assert!(model.weight("pills") > 0.0 && model.weight("moon") < 0.0);
    assert_eq!(model.weight("absent"), 0.0);
}

#[test]
fn what_cannot_be_read_is_told_whatever_its_bytes_are() {
    let told = |bytes: Vec<u8>, label: &str| file::fast_text(bytes, label).expect_err("an error");
    let whole = fixture("softmax");
    assert!(told(whole.clone(), "").contains("which of its labels is the topic?"));
    let unknown = told(whole.clone(), "x");
    assert!(unknown.contains("model:FILE#LABEL, of ") && unknown.contains("hq"), "{unknown}");
    assert!(told(fixture("hs"), "hq").contains("-loss softmax"));
    for cut in 0..whole.len() {
        assert!(!told(whole[..cut].to_vec(), "hq").is_empty(), "cut at {cut}");
    }
    // Sizes are held against the bytes that are there, before anything is made of that size.
    for at in 8..whole.len().min(400) {
        for value in [0xff, 0x7f, 0x80, 0x00] {
            let mut wrong = whole.clone();
            wrong[at] = value;
            if let Ok(topic) = file::fast_text(wrong, "hq") {
                topic.score(TEXTS[2], &mut TextFeatures::default());
            }
        }
    }
}
