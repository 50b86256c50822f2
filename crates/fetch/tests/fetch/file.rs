//! file: URLs, the second scheme behind the trait.

use rhumb_fetch::{Fetch, FetchLimits, Fetcher, File, FileConfig, Response, Validators};
use rhumb_page::url::Url;

use crate::server::{client, limits, request, run, words};

#[test]
fn a_tree_on_disk_is_read_like_a_site_and_nothing_outside_it() {
    let base = std::env::temp_dir().join(format!("rhumb-file-{}", std::process::id()));
    let root = base.join("site");
    std::fs::create_dir_all(root.join("sub dir")).unwrap();
    std::fs::write(root.join("a.html"), "<p>hello").unwrap();
    std::fs::write(root.join("sub dir/ü\"&.txt"), "umlaut").unwrap();
    std::fs::write(base.join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(base.join("secret.txt"), root.join("way-out")).unwrap();

    let config = FileConfig { root: root.clone(), list_directories: true };
    let fetcher = Fetcher { http: client(), file: Some(File::new(config).unwrap()) };
    let fetch = |path: &str, limits: FetchLimits, validators: Validators| -> Result<Response, _> {
        let url = Url::parse(&format!("file://{}{path}", root.display())).unwrap();
        let request = rhumb_fetch::FetchRequest { validators, ..request(url, limits) };
        run(fetcher.fetch(&request))
    };
    let plain = |path: &str| fetch(path, limits(), Validators::default());

    let page = plain("/a.html").unwrap();
    assert_eq!(page.head().content_type().as_deref(), Some("text/html"));
    assert_eq!(&*page.payload(), b"<p>hello");
    let again = fetch("/a.html", limits(), page.validators()).unwrap();
    assert_eq!((again.status, &*again.payload()), (304, &b""[..]));
    let cut = FetchLimits { body_bytes_max: 4, ..limits() };
    assert_eq!(words(&fetch("/a.html", cut, Validators::default())), "200 <p>h Length");

    let list = String::from_utf8(plain("/").unwrap().payload().to_vec()).unwrap();
    assert!(list.contains("href=\"./a.html\"") && list.contains("href=\"./sub%20dir/\""), "{list}");
    let list = String::from_utf8(plain("/sub%20dir/").unwrap().payload().to_vec()).unwrap();
    let (_, link) = list.split_once("href=\".").unwrap();
    let (link, _) = link.split_once('"').unwrap();
    assert_eq!(words(&plain(&format!("/sub%20dir{link}"))), "200 umlaut");

    assert_eq!(words(&plain("/missing")), "404 ");
    assert_eq!(words(&plain("/a.html/below")), "404 ");
    for outside in ["/way-out", "/../secret.txt", "/%2e%2e/secret.txt", "/..%2Fsecret.txt"] {
        assert_eq!(words(&plain(outside)), "403 ", "{outside}");
    }
    let elsewhere = request(Url::parse("file://other.host/a.html").unwrap(), limits());
    assert_eq!(words(&run(fetcher.fetch(&elsewhere))), "unsupported_scheme");
    std::fs::remove_dir_all(&base).unwrap();
}
