//! The list of cases, and the macro that makes tests of them.

/// Makes one test of each case of the suite, for the stores that `$factory` returns.
#[macro_export]
macro_rules! contract_suite {
    ($factory:path) => {
        $crate::contract_suite! { $factory =>
            a_run_is_kept_with_its_first_events
            a_run_without_an_owner_has_fence_zero
            a_second_run_with_the_same_key_is_the_first
            a_second_run_with_the_same_id_is_the_first
            an_idempotency_key_wins_a_race_once
            unknown_ids_are_none
            every_kind_of_summary_is_kept
            moments_before_1970_and_far_ahead_are_kept
            events_are_read_in_pages
            any_text_and_number_is_kept
            a_mebibyte_in_one_event_is_kept
            a_thousand_events_in_one_append_are_kept
            an_append_changes_everything_at_once
            an_append_without_events_changes_the_rest
            a_conflict_writes_nothing
            a_fenced_append_writes_nothing
            an_append_to_an_unknown_run_writes_nothing
            a_command_needs_no_fence
            every_write_changes_the_version
            what_is_synced_is_still_there
            runs_are_listed_latest_first
            runs_are_listed_by_state_and_time
            runs_are_listed_by_owner
            pages_are_stable_while_runs_arrive
            a_foreign_cursor_is_refused
            an_execution_is_kept_whole_and_replaced
            executions_are_found_by_every_filter
            executions_are_listed_in_pages
            no_executions_have_no_stats
            stats_use_the_nearest_rank
            stats_count_by_skill_and_agent_within_a_window
            executions_that_run_are_counted_but_not_measured
            health_follows_the_outcomes
            principals_are_counted_apart
            other_files_begin_anew
            an_operator_resets_health
            one_run_has_a_probe_until_its_claim_ends
            health_of_files_that_are_gone_is_pruned
            a_claim_hands_a_run_over
            a_late_claim_is_refused
            one_of_many_claims_wins
            prune_removes_what_ended_before_and_nothing_else
            prune_frees_the_idempotency_key
            prune_of_many_runs_counts_them
            one_of_many_appends_wins_each_revision
            appends_to_many_runs_all_succeed
            readers_never_see_half_an_append
            random_operations_answer_as_memory_does
        }
    };
    ($factory:path => $($case:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (store, _guard) = $factory().await;
                $crate::contract::$case(store).await;
            }
        )*
    };
}

/// Makes one test of each case about agents, messages and waits, for the stores that `$factory` returns.
#[macro_export]
macro_rules! agent_contract_suite {
    ($factory:path) => {
        $crate::contract_suite! { $factory =>
            an_agent_is_kept_with_its_first_event
            a_second_agent_with_the_same_id_is_refused
            a_parent_must_be_idle_or_running
            living_children_are_limited
            living_agents_are_limited
            many_spawns_at_once_stay_within_the_limits
            one_of_many_spawns_of_an_id_wins
            an_agents_append_changes_log_and_record
            an_agents_conflict_writes_nothing
            one_of_many_agent_appends_wins
            what_is_said_is_added_wherever_the_log_ends
            many_talk_at_once_and_nothing_is_lost
            agent_events_are_read_in_pages
            agents_are_counted_by_state
            agents_are_listed_latest_first
            agents_are_found_by_every_filter
            children_are_listed_in_the_order_of_spawning
            pages_are_stable_while_agents_arrive
            prune_removes_agents_that_ended
            prune_keeps_the_parents_of_kept_children
            prune_removes_mailboxes
            a_message_lies_in_its_mailbox
            strangers_neither_get_nor_send_messages
            only_the_terminated_have_no_mailbox
            a_message_is_posted_once
            an_id_of_a_message_is_its_senders
            one_of_many_posts_of_a_message_wins
            a_full_mailbox_refuses
            many_posts_at_once_stay_within_the_mailbox
            a_broadcast_reaches_the_living
            a_broadcast_passes_full_mailboxes_by
            a_response_needs_its_request
            requests_are_answered_by_all_who_were_asked
            mail_is_read_in_order
            reading_marks_and_peeking_does_not
            marking_counts_what_was_unread
            expired_mail_is_never_returned
            readers_share_a_mailbox
            much_mail_is_read_in_pieces
            an_answer_is_taken_by_who_asked
            an_error_of_a_stranger_is_no_answer
            termination_makes_dead_letters
            nothing_is_posted_behind_a_termination
            sweep_buries_what_is_expired
            sweep_of_many_counts_each_once
            dead_letters_are_listed_latest_first
            dead_letters_are_capped_and_counted
            topic_events_are_replayed
            topic_events_are_kept_once_and_capped
            followers_of_topics_miss_nothing
            a_wait_that_closes_a_ring_is_refused
            a_wait_that_ended_is_forgotten
            a_wait_whose_time_is_up_holds_nobody
            rings_are_never_closed_together
            every_write_of_agents_changes_the_version
            random_mail_is_handled_as_in_memory
        }
    };
}

/// Makes one test of each case about the shared catalog, for the stores that `$factory` returns.
#[macro_export]
macro_rules! catalog_contract_suite {
    ($factory:path) => {
        $crate::contract_suite! { $factory =>
            a_skill_is_kept_whole
            files_hold_any_bytes
            a_skill_changes_only_from_its_last_revision
            deletion_keeps_the_history
            skills_are_listed_in_the_order_they_were_made
            skills_are_limited
            one_of_many_saves_wins
            a_hub_is_kept_and_changed
            the_same_location_is_refused
            positions_grow_for_ever
            hubs_are_limited
            a_key_is_kept_whole
            a_revoked_key_stays_revoked
            keys_are_listed_in_pages
            keys_of_an_owner_are_limited
            the_administrators_token_is_kept
            one_of_many_first_tokens_wins
            the_last_word_about_teams_counts
            the_last_of_many_words_about_teams_wins
            a_verdict_replaces_the_one_before
            findings_are_found_by_every_filter
            one_of_many_verdicts_stays
            overrides_are_kept_by_hash
            an_audit_entry_is_kept_once
            audit_entries_are_found_by_every_filter
            a_trail_is_kept_whole_and_once
            trails_are_found_by_every_filter
            trails_of_people_are_pruned
            the_generation_grows_with_the_content
            generations_are_shared
            a_foreign_cursor_of_the_catalog_is_refused
            every_write_of_the_catalog_changes_the_version
            random_changes_of_the_catalog_are_made_as_in_memory
        }
    };
}
