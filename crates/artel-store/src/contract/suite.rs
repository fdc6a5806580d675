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
            other_files_begin_anew
            an_operator_resets_health
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
