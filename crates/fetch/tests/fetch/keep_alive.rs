//! Connections used again, and those that were closed behind our back.

use std::time::Duration;

use rhumb_fetch::{Fetch, Http, HttpConfig};

use crate::server::{Act, Server, client, limits, request, run, send, until, words};

const HELLO: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn exchange(answer: &str) -> Vec<Act> {
    vec![Act::Read, send(answer)]
}

/// Fetches `times` times in a row from one client; the server has no more connections than scripts.
fn fetches(client: &Http, server: &Server, times: usize) -> Vec<String> {
    run(async {
        let mut all = Vec::new();
        for n in 0..times {
            let request = request(server.url(&format!("/{n}")), limits());
            all.push(words(&client.fetch(&request).await));
        }
        all
    })
}

#[test]
fn a_connection_serves_many_requests_each_with_its_own_bytes() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let no_body = "HTTP/1.1 304 Not Modified\r\n\r\n";
    let mut script = [HELLO, chunked, no_body, HELLO].map(exchange).concat();
    script.push(Act::Hold);
    let server = Server::start(vec![script]);
    let client = client();
    run(async {
        for (n, expected) in [HELLO, chunked, no_body, HELLO].iter().enumerate() {
            let request = request(server.url(&format!("/{n}")), limits());
            let response = client.fetch(&request).await.unwrap();
            assert_eq!(response.raw, expected.as_bytes());
            assert!(response.raw_request.starts_with(format!("GET /{n} ").as_bytes()));
            assert_eq!(client.idle_connections(), 1);
        }
    });
}

#[test]
fn a_connection_closed_while_idle_is_replaced_without_a_word() {
    // Closed at once after the answer; the same after an unasked-for answer, as servers send on
    // their own time-out. No await lies between the close and the next fetch: the runtime has not
    // heard of it.
    let timeout = format!("{HELLO}HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n");
    let server = Server::start(vec![exchange(HELLO), exchange(&timeout), exchange(HELLO)]);
    let client = client();
    run(async {
        for n in 0..3 {
            let request = request(server.url(&format!("/{n}")), limits());
            let words = words(&client.fetch(&request).await);
            assert!(words.starts_with("200 hello"), "{n}: {words}");
            server.wait_for_close();
        }
    });
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn a_request_that_was_sent_is_never_sent_again() {
    // Closed without an answer: a fresh connection, a used one, and a used one that breaks in the
    // middle of its answer.
    let fresh = vec![Act::Read];
    let used = [exchange(HELLO), vec![Act::Read]].concat();
    let broken = [exchange(HELLO), exchange("HTTP/1.1 200")].concat();
    for (script, expected) in [
        (fresh, vec!["closed", "200 hello"]),
        (used, vec!["200 hello", "closed", "200 hello"]),
        (broken, vec!["200 hello", "closed", "200 hello"]),
    ] {
        let server = Server::start(vec![script, exchange(HELLO)]);
        assert_eq!(fetches(&client(), &server, expected.len()), expected);
        assert_eq!(server.requests().len(), expected.len(), "one request a fetch");
    }
}

#[test]
fn a_host_that_breaks_or_refuses_used_connections_gets_a_new_one_for_each_request() {
    let bad = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
    let silent = [exchange(HELLO), vec![Act::Read]].concat();
    let complains = [exchange(HELLO), exchange(bad)].concat();
    for script in [silent, complains] {
        let scripts = vec![script.clone(), script.clone(), script];
        let server = Server::start(scripts);
        let (client, expected) = (client(), ["200 hello", "closed", "200 hello", "200 hello"]);
        assert_eq!(fetches(&client, &server, expected.len()), expected);
        assert_eq!(client.idle_connections(), 0);
    }
    // On a new connection it means what it says.
    let server = Server::start(vec![exchange(bad)]);
    assert!(fetches(&client(), &server, 1)[0].starts_with("400"));
}

#[test]
fn a_connection_that_may_not_be_used_again_is_not_kept() {
    let goodbye = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello";
    let old = "HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let until_the_end = "HTTP/1.1 200 OK\r\n\r\nhello";
    for answer in [goodbye, old, until_the_end] {
        let server = Server::start(vec![exchange(answer)]);
        let client = client();
        assert_eq!(fetches(&client, &server, 1), ["200 hello"]);
        assert_eq!(client.idle_connections(), 0, "{answer:?}");
    }
}

#[test]
fn idle_connections_are_one_per_host_and_bounded_in_number_and_time() {
    let held = || Server::start(vec![[exchange(HELLO), vec![Act::Hold]].concat()]);
    let client_with = |idle_connections_max, idle_per_address_max, idle_time_max| {
        let config = HttpConfig {
            idle_connections_max,
            idle_per_address_max,
            idle_time_max,
            allow_private: true,
            ..HttpConfig::default()
        };
        Http::new(&config).unwrap()
    };
    let long = Duration::from_secs(600);
    // The servers are ports of one address.
    for (connections_max, per_address_max, time_max, expected) in [
        (3, 9, long, 3),
        (0, 9, long, 0),
        (9, 9, long, 5),
        (9, 2, long, 2),
        (9, 9, Duration::ZERO, 1),
    ] {
        let client = client_with(connections_max, per_address_max, time_max);
        let servers: Vec<Server> = (0..5).map(|_| held()).collect();
        run(async {
            for server in &servers {
                client.fetch(&request(server.url("/"), limits())).await.unwrap();
            }
        });
        assert_eq!(client.idle_connections(), expected);
        client.close_idle_connections();
        assert_eq!(client.idle_connections(), 0);
    }
}

#[test]
fn a_fetch_that_is_dropped_takes_its_connection_with_it() {
    // The server holds until the client has gone; only then does it accept the second connection.
    let server = Server::start(vec![vec![Act::Read, Act::Hold], exchange(HELLO)]);
    let client = client();
    run(async {
        let request = request(server.url("/"), limits());
        // Dropped as soon as the server has read the request.
        let dropped = tokio::select! {
            response = client.fetch(&request) => Some(response.is_ok()),
            () = until(|| !server.requests().is_empty()) => None,
        };
        assert_eq!(dropped, None);
        assert_eq!(client.idle_connections(), 0);
        assert_eq!(words(&client.fetch(&request).await), "200 hello");
    });
}
