//! Content codings: bombs, lies, layers, and streams without end.

use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use flate2::write::GzEncoder;
use flate2::{Compression, FlushCompress};

use crate::hostile::kind::{HostileKind, HostileRequest};
use crate::hostile::script::{Noise, WireScript, document};

const CUT: &str = "cut at the limit of decoded bytes or ratio";
const GIGABYTE: usize = 1 << 30;
const MEGABYTE: usize = 1 << 20;

pub(super) const KINDS: &[HostileKind] = &[
    HostileKind::new("gzbomb", "1 GB of zeros as 1 MB of gzip", CUT, gzip_bomb),
    HostileKind::new(
        "gznest",
        "gzip in gzip, 2 and 10 layers; 1,000 codings named",
        "layers are bounded",
        nested,
    )
    .starts(&["/2", "/10", "/1000"])
    .fetches(&["/2"])
    .may_fail(&["header_too_big"]),
    HostileKind::new(
        "gzlie",
        "plain text called gzip, gzip called identity, unknown coding, raw deflate",
        "failure, or kept raw",
        lies,
    )
    .starts(&["/0", "/1", "/2", "/3"])
    .fetches(&["/0", "/1", "/2", "/3"]),
    HostileKind::new("gzend", "gzip members for ever", "cut at the limit", endless_members)
        .may_fail(&["slow", "timeout"]),
    HostileKind::new("zstbomb", "1 GB of zeros in 32 KB of zstd", CUT, zstd_bomb),
    HostileKind::new(
        "zstwin",
        "zstd that asks for a window of 3.75 TB",
        "window limit; no allocation",
        zstd_window,
    ),
    HostileKind::new("brbomb", "256 MB of zeros in brotli", CUT, brotli_bomb),
    HostileKind::new("gzbombs", "20 pages, each a gzip bomb", CUT, gzip_bombs)
        .starts(&["/0", "/1", "/2", "/3", "/4", "/5", "/6", "/7", "/8", "/9"]),
    HostileKind::new(
        "gzcut",
        "gzip that ends in the middle; a wrong checksum; trash behind it",
        "what came is kept",
        damaged,
    )
    .starts(&["/cut", "/sum", "/trash"])
    .fetches(&["/sum", "/trash"])
    .may_fail(&["closed"]),
    HostileKind::new("gzhead", "a gzip header with a name of 1 MB", "bounded", long_gzip_header),
    HostileKind::new("randgz", "random bytes called gzip, br, zstd, deflate", "kept raw", random)
        .starts(&["/gzip", "/br", "/zstd", "/deflate"]),
];

/// A body in gzip.
pub fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(body).and_then(|()| encoder.finish());
    written.expect("a vector takes all")
}

/// A gigabyte of zeros in gzip behind these bytes, without the end of the stream: a block that
/// ends at a byte and refers to zeros alone may be repeated.
pub fn zeros_after(start: &[u8]) -> Vec<u8> {
    const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut deflate = flate2::Compress::new(Compression::best(), false);
    let mut part = |bytes: &[u8]| {
        let mut out = Vec::with_capacity(bytes.len() / 200 + 4_096);
        let done = deflate.compress_vec(bytes, &mut out, FlushCompress::Sync);
        done.expect("the room is enough");
        out
    };
    let zeros = vec![0; MEGABYTE];
    let mut bytes = [&GZIP_HEADER[..], &part(start), &part(&zeros)].concat();
    let again = part(&zeros);
    for _ in 1..GIGABYTE / MEGABYTE {
        bytes.extend_from_slice(&again);
    }
    bytes
}

static GZIP_OF_ZEROS: LazyLock<Vec<u8>> =
    LazyLock::new(|| zeros_after(b"<title>Bomb</title><a href=/inside>in</a>"));

/// A frame of blocks that repeat one byte, 128 KB each.
static ZSTD_OF_ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    const BLOCK_BYTES: usize = 128 << 10;
    // The magic, no size, a window of 128 KB.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    let blocks = GIGABYTE / BLOCK_BYTES;
    for n in 1..=blocks {
        let header = (BLOCK_BYTES as u32) << 3 | 1 << 1 | u32::from(n == blocks);
        frame.extend_from_slice(&header.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
});

static BROTLI_OF_ZEROS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut out, 64 << 10, 1, 24);
    let zeros = vec![0; MEGABYTE];
    for _ in 0..GIGABYTE / MEGABYTE / 4 {
        writer.write_all(&zeros).expect("a vector takes all");
    }
    drop(writer);
    out
});

/// Makes the bombs, which takes some seconds: a server that made them when asked would keep all
/// other kinds waiting.
pub(super) fn prepare() {
    LazyLock::force(&GZIP_OF_ZEROS);
    LazyLock::force(&ZSTD_OF_ZEROS);
    LazyLock::force(&BROTLI_OF_ZEROS);
}

fn coded(coding: &str, body: impl AsRef<[u8]>) -> WireScript {
    let coding = format!("Content-Encoding: {coding}");
    WireScript::answer("200 OK", &["Content-Type: text/html", &coding], body)
}

fn gzip_bomb(_: &HostileRequest) -> WireScript {
    coded("gzip", &*GZIP_OF_ZEROS)
}

fn gzip_bombs(request: &HostileRequest) -> WireScript {
    let mut bomb = GZIP_OF_ZEROS.clone();
    // Ten that differ in their bytes, by the time in their headers.
    bomb[4] = request.number() as u8;
    coded("gzip", bomb)
}

fn nested(request: &HostileRequest) -> WireScript {
    let layers = request.number() as usize;
    let mut body = document(&format!("{layers} layers"), ["/2"]).into_bytes();
    for _ in 0..layers.min(10) {
        body = gzip(&body);
    }
    coded(&vec!["gzip"; layers].join(", "), body)
}

fn lies(request: &HostileRequest) -> WireScript {
    let body = document(&format!("lie {}", request.target), ["/0"]);
    match request.number() {
        0 => coded("gzip", body),
        1 => coded("identity", gzip(body.as_bytes())),
        2 => coded("rot13", body),
        _ => {
            let encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
            let mut encoder = encoder;
            let raw = encoder.write_all(body.as_bytes()).and_then(|()| encoder.finish());
            coded("deflate", raw.expect("a vector takes all"))
        }
    }
}

fn endless_members(_: &HostileRequest) -> WireScript {
    let member = gzip(document("a member", ["/"]).as_bytes());
    let head = ["Content-Type: text/html", "Content-Encoding: gzip"];
    WireScript::head("200 OK", &head).repeat(member.repeat(20), Duration::ZERO)
}

fn zstd_bomb(_: &HostileRequest) -> WireScript {
    coded("zstd", &*ZSTD_OF_ZEROS)
}

fn zstd_window(_: &HostileRequest) -> WireScript {
    // The window descriptor with the largest exponent and mantissa, then a raw block of 4 bytes.
    coded("zstd", [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x21, 0, 0, b'b', b'o', b'd', b'y'])
}

fn brotli_bomb(_: &HostileRequest) -> WireScript {
    coded("br", &*BROTLI_OF_ZEROS)
}

fn damaged(request: &HostileRequest) -> WireScript {
    let mut body = gzip(document(&format!("damaged {}", request.target), ["/sum"]).as_bytes());
    let length = body.len();
    match request.path() {
        "/cut" => body.truncate(length / 2),
        "/sum" => body[length - 6] ^= 0xff,
        _ => body.extend_from_slice(&Noise::of("trash").bytes(5_000)),
    }
    coded("gzip", body)
}

fn long_gzip_header(_: &HostileRequest) -> WireScript {
    const WITH_NAME: [u8; 10] = [0x1f, 0x8b, 8, 8, 0, 0, 0, 0, 0, 0xff];
    let rest = gzip(document("long name", ["/"]).as_bytes()).split_off(WITH_NAME.len());
    coded("gzip", [&WITH_NAME[..], &vec![b'n'; MEGABYTE], &[0], &rest].concat())
}

fn random(request: &HostileRequest) -> WireScript {
    coded(&request.path()[1..], Noise::of(&request.target).bytes(50_000))
}
