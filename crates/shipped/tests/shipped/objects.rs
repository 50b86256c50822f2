//! A crawl's objects in a store of files.

use crate::partition::Place;
use rhumb_engine::error::ErrorKind;
use rhumb_shipped::{Objects, Put};

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

#[test]
fn a_name_is_taken_once_and_orders_keep_their_order() {
    let place = Place::new();
    let objects = Objects::open(&place.address(), "news").expect("a store");
    block_on(async {
        assert!(objects.is_empty().await.expect("a list"));
        assert_eq!(objects.crawl().await.expect("a look"), None);
        assert_eq!(objects.put_crawl("partitions = 4\n").await.expect("a put"), Put::New);
        assert_eq!(objects.put_crawl("partitions = 8\n").await.expect("a put"), Put::Taken);
        assert_eq!(objects.crawl().await.expect("a look").unwrap(), "partitions = 4\n");
        assert_eq!(objects.put_order(1, b"pause").await.expect("a put"), Put::New);
        assert_eq!(objects.put_order(2, b"resume").await.expect("a put"), Put::New);
        assert_eq!(objects.put_order(2, b"pause").await.expect("a put"), Put::Taken);
        // The same words are another's order.
        assert_eq!(objects.put_order(1, b"pause").await.expect("a put"), Put::Taken);
        let orders = objects.orders_after(0).await.expect("orders");
        assert_eq!(orders, [(1, "pause".into()), (2, "resume".into())]);
        assert_eq!(objects.orders_after(2).await.expect("orders"), []);
        for beat in 1..3 {
            objects.put_node("a", format!("a {beat}").into()).await.expect("a beat");
        }
        objects.put_node("b", "b 1".into()).await.expect("a beat");
        let nodes = objects.nodes().await.expect("all beats");
        assert_eq!(nodes, [("a".to_owned(), "a 2".into()), ("b".to_owned(), "b 1".into())]);
        objects.remove_node("a").await.expect("gone");
        objects.remove_node("a").await.expect("gone already");
        assert_eq!(objects.nodes().await.expect("all beats").len(), 1);
        let other = objects.of_crawl("other").expect("a name");
        assert!(other.is_empty().await.expect("a list"));
    });
}

#[test]
fn a_store_of_files_passes_the_probe_and_is_left_as_it_was() {
    let place = Place::new();
    let objects = Objects::open(&place.address(), "news").expect("a store");
    block_on(async {
        let probed = objects.probe().await.expect("an honest store");
        assert!(probed.clock_ahead_s.abs() < 60, "{probed:?}");
        assert!(objects.is_empty().await.expect("a list"));
    });
}

#[test]
fn addresses_and_names_that_cannot_be_used_are_refused_with_what_to_write() {
    for (address, name, why) in [
        ("news", "a", "write s3://BUCKET/PREFIX"),
        ("ftp://host/x", "a", "the scheme is unknown"),
        ("s3://", "a", "it names no bucket"),
        ("file:///tmp", "a/b", "cannot be the name of a crawl"),
        ("file:///tmp", "..", "cannot be the name of a crawl"),
        ("file:///tmp", "", "cannot be the name of a crawl"),
    ] {
        let error = Objects::open(address, name).err().expect("refused");
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.what.contains(why), "{address} {name}: {error}");
    }
}
