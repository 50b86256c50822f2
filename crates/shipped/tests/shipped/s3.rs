//! The same over an S3 server that loses answers, refuses, is slow, is gone, and lies.

use crate::bucket::{BUCKET, Bucket, Faults};
use crate::chance::Chance;
use crate::partition::{Partition, Place, SEED};
use crate::taking::assert_same;
use hyper::StatusCode;
use object_store::aws::AmazonS3Builder;
use object_store::{ClientOptions, ObjectStore, RetryConfig};
use rhumb_engine::error::ErrorKind;
use rhumb_engine::rng::Rng;
use rhumb_shipped::{Objects, Put};
use rhumb_state::memory::MemoryState;
use std::sync::Arc;
use std::time::Duration;

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(work)
}

/// A crawl in the bucket, asked by a client that tries nothing again by itself.
fn objects_in(bucket: &Bucket, crawl: &str) -> Objects {
    // The client comes without cryptography; whoever was first has chosen.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let store = AmazonS3Builder::new()
        .with_bucket_name(BUCKET)
        .with_endpoint(format!("http://127.0.0.1:{}", bucket.port()))
        .with_region("us-east-1")
        .with_access_key_id("test")
        .with_secret_access_key("test")
        .with_client_options(ClientOptions::new().with_allow_http(true))
        .with_retry(retry)
        .build();
    let store: Arc<dyn ObjectStore> = Arc::new(store.expect("a client"));
    Objects::over(store, true, crawl).expect("a name")
}

#[test]
fn a_store_that_lies_is_refused_and_an_honest_one_is_not() {
    let Some(bucket) = Bucket::start() else { return };
    let objects = objects_in(&bucket, "probed");
    let refused = |faults: Faults| {
        bucket.set(faults);
        let error = block_on(objects.probe()).expect_err("a store that cannot be used");
        bucket.set(Faults::default());
        error
    };
    let honest = block_on(objects.probe()).expect("an honest store");
    assert!(honest.clock_ahead_s.abs() < 60, "{honest:?}");
    assert!(block_on(objects.is_empty()).expect("a list"));
    let error = refused(Faults { ignores_conditions: true, ..Faults::default() });
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.what.contains("it puts over an object though told not to"), "{error}");
    let error = refused(Faults { lists_nothing: true, ..Faults::default() });
    assert!(error.what.contains("a list lacks an object that was put before"), "{error}");
    let error = refused(Faults { forbids: true, ..Faults::default() });
    assert_eq!(error.kind, ErrorKind::Invalid);
    assert!(error.what.contains("give these credentials the rights"), "{error}");
    let error = refused(Faults { is_away: true, ..Faults::default() });
    assert_eq!(error.kind, ErrorKind::Retry, "{error}");
}

#[test]
fn an_order_is_put_once_whatever_becomes_of_the_answer() {
    let Some(bucket) = Bucket::start() else { return };
    let objects = objects_in(&bucket, "orders");
    let faults = [
        Faults { lost_answer: Some(0), ..Faults::default() },
        Faults { answered: Some((0, StatusCode::CONFLICT)), ..Faults::default() },
        Faults { answered: Some((0, StatusCode::SERVICE_UNAVAILABLE)), ..Faults::default() },
    ];
    for (n, faults) in faults.into_iter().enumerate() {
        bucket.set(faults);
        let number = n as u64 + 1;
        let put = block_on(objects.put_order(number, b"pause")).expect("a put");
        assert_eq!(put, Put::New, "{number}");
        assert_eq!(block_on(objects.put_order(number, b"pause")).expect("a put"), Put::Taken);
    }
    bucket.set(Faults::default());
    assert_eq!(block_on(objects.orders_after(0)).expect("orders").len(), 3);
}

/// A short life of a partition: taken, written, taken elsewhere.
fn short_life(objects: &Objects, seed: u64) {
    let place = Place::new();
    let mut chance = Chance(Rng::new(seed));
    let mut model = MemoryState::new(SEED);
    let take = |name: &str| Partition::take_in(objects.clone(), name, &place.node(name));
    let mut first = take("a").expect("taken");
    for page in 0..12 {
        first.commit(&mut chance, &mut model);
        first.fetch(page, &mut model);
    }
    let shipped = first.drain();
    assert_eq!(shipped.shipped, first.state.commits(), "{shipped:?}");
    let second = take("b").expect("taken elsewhere");
    assert_same(&second, &model, "elsewhere");
    second.assert_archive_has_what_rows_claim(&place.node("export"));
}

#[test]
fn the_answer_of_each_put_in_turn_is_lost_and_nothing_is() {
    let Some(bucket) = Bucket::start() else { return };
    bucket.set(Faults::default());
    short_life(&objects_in(&bucket, "whole"), 1);
    let puts = bucket.puts();
    assert!(puts > 5, "{puts}");
    for lost in 0..puts {
        bucket.set(Faults { lost_answer: Some(lost), ..Faults::default() });
        short_life(&objects_in(&bucket, &format!("lost-{lost}")), 1);
    }
}

#[test]
fn a_store_that_refuses_for_a_while_or_is_slow_costs_time_alone() {
    let Some(bucket) = Bucket::start() else { return };
    // A clash over a name of the log says that there is another owner: only the first put is none.
    let refused = [
        (StatusCode::CONFLICT, 0),
        (StatusCode::SERVICE_UNAVAILABLE, 0),
        (StatusCode::SERVICE_UNAVAILABLE, 2),
        (StatusCode::SERVICE_UNAVAILABLE, 4),
    ];
    for (status, put) in refused {
        bucket.set(Faults { answered: Some((put, status)), ..Faults::default() });
        short_life(&objects_in(&bucket, &format!("refused-{}-{put}", status.as_u16())), 2);
    }
    bucket.set(Faults { delay: Duration::from_millis(30), ..Faults::default() });
    short_life(&objects_in(&bucket, "slow"), 3);
}

#[test]
fn a_store_that_is_gone_is_waited_for_and_what_gathers_is_told() {
    let Some(bucket) = Bucket::start() else { return };
    let (place, objects) = (Place::new(), objects_in(&bucket, "gone"));
    let mut model = MemoryState::new(SEED);
    let mut chance = Chance(Rng::new(4));
    let take = |name: &str| Partition::take_in(objects.clone(), name, &place.node(name));
    let mut partition = take("a").expect("taken");
    partition.commit(&mut chance, &mut model);
    let before = partition.drain();
    assert_eq!(before.unshipped_bytes, 0);
    bucket.set(Faults { is_away: true, ..Faults::default() });
    for page in 0..12 {
        partition.commit(&mut chance, &mut model);
        partition.fetch(page, &mut model);
    }
    let during = partition.drain_within(Duration::from_millis(1_500));
    assert_eq!(during.shipped, before.shipped);
    assert!(during.unshipped_bytes > 0 && during.failed.is_none(), "{during:?}");
    bucket.set(Faults::default());
    let after = partition.drain();
    assert_eq!((after.shipped, after.unshipped_bytes), (partition.state.commits(), 0));
    drop(partition);
    assert_same(&take("b").expect("taken elsewhere"), &model, "elsewhere");
}
