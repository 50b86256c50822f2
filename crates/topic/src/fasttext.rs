//! Models that fastText has trained: what its `-supervised` mode saves as `.bin`.
//!
//! A. Joulin, E. Grave, P. Bojanowski, T. Mikolov, *Bag of Tricks for Efficient Text
//! Classification*, EACL 2017. A text is the mean of the rows of its words, of their letters in a
//! row, and of words in a row; a label's probability follows from the product with the label's own
//! row. One label is the topic. The file is kept as it is and read in place: models take gigabytes.
//! Not read are models with weights in fewer bits (`.ftz`) and those with a tree of labels
//! (`-loss hs`).

use crate::features::TEXT_BYTES_MAX;
use std::collections::HashMap;
use std::sync::Arc;

/// The row of each word.
type WordRows = HashMap<Box<str>, u32>;

const MAGIC: i32 = 793_712_314;
const VERSION: i32 = 12;
const SUPERVISED: i32 = 3;
/// What stands before a label's name.
const PREFIX: &str = "__label__";
/// The end of a text, a word of its own.
const END: &str = "</s>";
/// Larger than that is no model that anybody has trained.
const DIM_MAX: usize = 4_096;
const LABELS_MAX: usize = 100_000;
/// Lengths of words in a row and letters in a row that are looked up.
const GRAMS_MAX: usize = 16;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loss {
    /// One of the labels holds.
    Softmax,
    /// Each label holds or not.
    Each,
}

/// Where a matrix begins within the file; each of its rows has a number for each dimension.
#[derive(Clone, Copy, Debug)]
struct Matrix(usize);

#[derive(Clone)]
pub struct FastText {
    bytes: Arc<[u8]>,
    dim: usize,
    words_in_a_row: usize,
    letters: (usize, usize),
    buckets: u64,
    loss: Loss,
    /// By word, its row.
    words: HashMap<Box<str>, u32>,
    input: Matrix,
    output: Matrix,
    labels: Vec<String>,
    label: usize,
}

impl std::fmt::Debug for FastText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (words, label) = (self.words.len(), &self.labels[self.label]);
        write!(f, "FastText({words} words, {} dimensions, {label})", self.dim)
    }
}

/// Whether bytes begin as such a model does.
pub fn is_model(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first| i32::from_le_bytes(*first) == MAGIC)
}

impl FastText {
    /// Reads a model of which this label is the topic; why it cannot be read otherwise.
    pub fn read(bytes: Arc<[u8]>, label: &str) -> Result<FastText, String> {
        let damaged = || "it is damaged, or cut short".to_owned();
        let mut from = Reader { bytes: &bytes, at: 0 };
        let head: [i32; 14] = from.numbers().ok_or_else(damaged)?;
        let [magic, version, dim, _, _, _, _, in_a_row, loss, model, buckets, minn, maxn, _] = head;
        if (magic, version) != (MAGIC, VERSION) {
            return Err("it is of another version of fastText".to_owned());
        }
        if model != SUPERVISED {
            return Err(
                "it knows words and no labels: train it with fasttext supervised".to_owned()
            );
        }
        let loss = match loss {
            2 | 4 => Loss::Each,
            3 => Loss::Softmax,
            _ => return Err("its labels are a tree: train it with -loss softmax".to_owned()),
        };
        from.skip(8).ok_or_else(damaged)?;
        let size = |n: i32, max: usize| usize::try_from(n).ok().filter(|n| *n <= max);
        let dim = size(dim, DIM_MAX).filter(|dim| *dim > 0).ok_or_else(damaged)?;
        let in_a_row = size(in_a_row, GRAMS_MAX).ok_or_else(damaged)?;
        let letters = (size(minn, GRAMS_MAX), size(maxn, GRAMS_MAX));
        let (Some(minn), Some(maxn), Ok(buckets)) = (letters.0, letters.1, u64::try_from(buckets))
        else {
            return Err(damaged());
        };
        let (words, labels) = from.dictionary().ok_or_else(damaged)?;
        let whole = "its weights have fewer bits: quantized models are not read, their .bin is";
        let mut matrix = |rows: u64| match from.byte()? {
            0 => from.matrix(rows, dim).map(Ok),
            _ => Some(Err(whole.to_owned())),
        };
        let input = matrix(words.len() as u64 + buckets).ok_or_else(damaged)??;
        let output = matrix(labels.len() as u64).ok_or_else(damaged)??;
        let label = named(&labels, label)?;
        let letters = (minn, maxn);
        let model = FastText {
            dim,
            words_in_a_row: in_a_row,
            letters,
            buckets,
            loss,
            words,
            input,
            output,
            labels,
            label,
            bytes: Arc::clone(&bytes),
        };
        Ok(model)
    }

    /// The file, and the label that is the topic: what [`FastText::read`] takes.
    pub fn parts(&self) -> (&[u8], &str) {
        (&self.bytes, &self.labels[self.label])
    }

    /// The probability that a text is of the topic; 0 where it has no word that the model knows.
    pub fn relevance(&self, text: &str) -> f32 {
        let rows = self.rows_of(&text[..text.floor_char_boundary(TEXT_BYTES_MAX)]);
        if rows.is_empty() {
            return 0.0;
        }
        let mut mean = vec![0.0f32; self.dim];
        for row in &rows {
            let row = self.row(self.input, *row);
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        mean.iter_mut().for_each(|sum| *sum /= rows.len() as f32);
        let said = |label: usize| -> f32 {
            mean.iter().zip(self.row(self.output, label)).map(|(a, b)| a * b).sum()
        };
        let own = said(self.label);
        let probability = match self.loss {
            Loss::Each => logistic(own),
            Loss::Softmax => {
                1.0 / (0..self.labels.len()).map(|l| (said(l) - own).exp()).sum::<f32>()
            }
        };
        if probability.is_finite() { probability } else { 0.0 }
    }

    /// What one word says for the topic and against the mean of the labels.
    pub fn weight(&self, word: &str) -> f32 {
        let Some(&row) = self.words.get(word) else { return 0.0 };
        let said = |label: usize| -> f32 {
            let label = self.row(self.output, label);
            self.row(self.input, row as usize).zip(label).map(|(a, b)| a * b).sum()
        };
        let all: f32 = (0..self.labels.len()).map(said).sum();
        said(self.label) - all / self.labels.len() as f32
    }

    fn row(&self, of: Matrix, row: usize) -> impl Iterator<Item = f32> {
        let from = of.0 + row * self.dim * 4;
        let bytes = self.bytes[from..from + self.dim * 4].chunks_exact(4);
        bytes.map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]]))
    }

    /// Rows of the words of a text, of their letters and of words in a row.
    fn rows_of(&self, text: &str) -> Vec<usize> {
        let mut rows = Vec::new();
        let mut hashes: Vec<u32> = Vec::new();
        for word in words_of(text).filter(|word| !word.starts_with(PREFIX)).chain([END]) {
            let known = self.words.get(word);
            rows.extend(known.map(|row| *row as usize));
            if word != END {
                self.letters_of(word, &mut rows);
            }
            hashes.push(hash(word.as_bytes()));
        }
        // Hashes are signed numbers there, and widened as such.
        let wide = |hash: u32| i64::from(hash as i32) as u64;
        for (at, &first) in hashes.iter().enumerate() {
            let mut together = wide(first);
            for &next in hashes[at + 1..].iter().take(self.words_in_a_row.saturating_sub(1)) {
                together = together.wrapping_mul(116_049_371).wrapping_add(wide(next));
                rows.extend(self.bucket(together));
            }
        }
        rows
    }

    fn letters_of(&self, word: &str, rows: &mut Vec<usize>) {
        let (least, most) = self.letters;
        if most == 0 {
            return;
        }
        let framed = format!("<{word}>");
        let ends: Vec<usize> = framed.char_indices().map(|(at, c)| at + c.len_utf8()).collect();
        for (n, (from, _)) in framed.char_indices().enumerate() {
            for (count, &to) in (1..=most).zip(&ends[n..]) {
                let is_frame = count == 1 && (from == 0 || to == framed.len());
                if count >= least && !is_frame {
                    rows.extend(self.bucket(u64::from(hash(&framed.as_bytes()[from..to]))));
                }
            }
        }
    }

    fn bucket(&self, hash: u64) -> Option<usize> {
        (self.buckets > 0).then(|| self.words.len() + (hash % self.buckets) as usize)
    }
}

fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_space = |c| matches!(c, ' ' | '\n' | '\r' | '\t' | '\x0b' | '\x0c' | '\0');
    text.split(is_space).filter(|word| !word.is_empty())
}

/// FNV-1a, with bytes as signed numbers.
fn hash(bytes: &[u8]) -> u32 {
    let step = |h: u32, &byte: &u8| (h ^ i32::from(byte as i8) as u32).wrapping_mul(16_777_619);
    bytes.iter().fold(2_166_136_261, step)
}

/// The logistic curve by the table that fastText has of it, in 512 steps from -8 to 8.
fn logistic(x: f32) -> f32 {
    const MOST: f32 = 8.0;
    const STEPS: f32 = 512.0;
    if x.abs() > MOST {
        return if x < 0.0 { 0.0 } else { 1.0 };
    }
    let step = ((x + MOST) * STEPS / MOST / 2.0).floor();
    1.0 / (1.0 + (MOST - step * 2.0 * MOST / STEPS).exp())
}

/// The number of a label, with its prefix or without.
fn named(labels: &[String], label: &str) -> Result<usize, String> {
    let wanted = label.strip_prefix(PREFIX).unwrap_or(label);
    let bare = |label: &String| label.strip_prefix(PREFIX).unwrap_or(label).to_owned();
    let found = labels.iter().position(|label| bare(label) == wanted);
    found.ok_or_else(|| {
        let some: Vec<String> = labels.iter().take(8).map(bare).collect();
        let some = some.join(", ");
        match wanted {
            "" => format!("which of its labels is the topic? model:FILE#LABEL, of {some}"),
            _ => format!("it has no label {wanted:?}: model:FILE#LABEL, of {some}"),
        }
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn skip(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.skip(1).map(|bytes| bytes[0])
    }

    fn long(&mut self) -> Option<i64> {
        self.skip(8)?.first_chunk().map(|bytes| i64::from_le_bytes(*bytes))
    }

    fn numbers<const N: usize>(&mut self) -> Option<[i32; N]> {
        let bytes = self.skip(4 * N)?;
        let number = |n: usize| bytes[4 * n..].first_chunk().map(|b| i32::from_le_bytes(*b));
        let mut numbers = [0; N];
        for (n, slot) in numbers.iter_mut().enumerate() {
            *slot = number(n)?;
        }
        Some(numbers)
    }

    /// Words with their rows, and labels in their order.
    fn dictionary(&mut self) -> Option<(WordRows, Vec<String>)> {
        let [entries, words_len, labels_len] = self.numbers()?;
        let (_tokens, pruned) = (self.long()?, self.long()?);
        let (mut words, mut labels) = (HashMap::new(), Vec::new());
        for row in 0..u32::try_from(entries).ok()? {
            let rest = self.bytes.get(self.at..)?;
            let len = rest.iter().position(|byte| *byte == 0)?;
            let text = String::from_utf8_lossy(self.skip(len)?).into_owned();
            self.skip(1 + 8)?;
            match self.byte()? {
                0 if labels.is_empty() => drop(words.insert(text.into_boxed_str(), row)),
                1 if labels.len() < LABELS_MAX => labels.push(text),
                _ => return None,
            }
        }
        // Pruned dictionaries belong to quantized models.
        let is_whole = pruned <= 0
            && i32::try_from(words.len()) == Ok(words_len)
            && i32::try_from(labels.len()) == Ok(labels_len)
            && !labels.is_empty();
        is_whole.then_some((words, labels))
    }

    fn matrix(&mut self, rows: u64, dim: usize) -> Option<Matrix> {
        let (found, columns) = (u64::try_from(self.long()?).ok()?, self.long()?);
        if found != rows || usize::try_from(columns) != Ok(dim) {
            return None;
        }
        let rows = usize::try_from(rows).ok()?;
        let from = self.at;
        self.skip(rows.checked_mul(dim)?.checked_mul(4)?)?;
        Some(Matrix(from))
    }
}
