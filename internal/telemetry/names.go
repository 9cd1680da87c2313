package telemetry

import "go.opentelemetry.io/otel/attribute"

// scope is the instrumentation scope of the gateway's own spans; pluginScope
// that of spans which plugins hand in.
const (
	scope       = "gatewayd"
	pluginScope = "gatewayd/plugin"
)

// schemaURL names the version of the semantic conventions that the names below
// follow: the last one which defines gen_ai.*.
const schemaURL = "https://opentelemetry.io/schemas/1.41.0"

// Names of the gateway's spans. The SERVER span is named "METHOD ROUTE", the
// CLIENT span of an attempt "OPERATION MODEL".
const (
	SpanDecide = "gatewayd.decide"
	SpanPlan   = "gatewayd.plan"
)

// Operations, the values of gen_ai.operation.name.
const (
	OperationChat       = "chat"
	OperationCompletion = "text_completion"
	OperationEmbeddings = "embeddings"
)

// Other is the label value that all unknown values of a label share.
const Other = "other"

// Span attributes of the semantic conventions.
const (
	attrServiceName    = attribute.Key("service.name")
	attrServiceVersion = attribute.Key("service.version")

	attrErrorType     = attribute.Key("error.type")
	attrMethod        = attribute.Key("http.request.method")
	attrRoute         = attribute.Key("http.route")
	attrPath          = attribute.Key("url.path")
	attrScheme        = attribute.Key("url.scheme")
	attrProtocol      = attribute.Key("network.protocol.version")
	attrStatus        = attribute.Key("http.response.status_code")
	attrServerAddress = attribute.Key("server.address")
	attrServerPort    = attribute.Key("server.port")

	attrOperation     = attribute.Key("gen_ai.operation.name")
	attrProvider      = attribute.Key("gen_ai.provider.name")
	attrModel         = attribute.Key("gen_ai.request.model")
	attrStream        = attribute.Key("gen_ai.request.stream")
	attrMaxTokens     = attribute.Key("gen_ai.request.max_tokens")
	attrResponseID    = attribute.Key("gen_ai.response.id")
	attrResponseModel = attribute.Key("gen_ai.response.model")
	attrFinishReasons = attribute.Key("gen_ai.response.finish_reasons")
	attrFirstChunk    = attribute.Key("gen_ai.response.time_to_first_chunk") // s
	attrInputTokens   = attribute.Key("gen_ai.usage.input_tokens")
	attrOutputTokens  = attribute.Key("gen_ai.usage.output_tokens")
	attrCachedTokens  = attribute.Key("gen_ai.usage.cache_read.input_tokens")
)

// Span attributes of the gateway.
const (
	attrRequestID       = attribute.Key("gatewayd.request.id")
	attrOutcome         = attribute.Key("gatewayd.outcome")
	attrWorker          = attribute.Key("gatewayd.worker")
	attrAttempt         = attribute.Key("gatewayd.attempt") // 1 for the first
	attrStrategy        = attribute.Key("gatewayd.strategy.name")
	attrStrategyVersion = attribute.Key("gatewayd.strategy.version")
	attrVerdict         = attribute.Key("gatewayd.decision.verdict")
	attrReason          = attribute.Key("gatewayd.decision.reason")
	attrPlanVersion     = attribute.Key("gatewayd.plan.version")
	attrPlanKeys        = attribute.Key("gatewayd.plan.keys")
	attrPlanResult      = attribute.Key("gatewayd.plan.result")
	attrCandidates      = attribute.Key("gatewayd.pick.candidates")
	attrRank            = attribute.Key("gatewayd.pick.rank") // 0 for the first choice
	attrFallback        = attribute.Key("gatewayd.fallback.reason")
	attrPool            = attribute.Key("gatewayd.pool")
)

// Metrics of the GenAI semantic conventions, in Prometheus form.
const (
	MetricServerDuration = "gen_ai_server_request_duration_seconds"
	MetricServerTTFT     = "gen_ai_server_time_to_first_token_seconds"
	MetricServerTPOT     = "gen_ai_server_time_per_output_token_seconds"
	MetricTokenUsage     = "gen_ai_client_token_usage"
	MetricClientDuration = "gen_ai_client_operation_duration_seconds"
)

// Metrics of the gateway.
const (
	MetricBuildInfo = "gatewayd_build_info"

	MetricRequests      = "gatewayd_requests_total"
	MetricRetries       = "gatewayd_retries_total"
	MetricRetriesDenied = "gatewayd_retries_denied_total"
	MetricRefusals      = "gatewayd_refusals_total"
	MetricOverhead      = "gatewayd_overhead_seconds"
	MetricQueue         = "gatewayd_queue_depth"
	MetricQueueWait     = "gatewayd_queue_wait_seconds"
	MetricEvictions     = "gatewayd_evictions_total"
	MetricTokensPerByte = "gatewayd_tokens_per_byte"

	MetricAttempts       = "gatewayd_attempts_total"
	MetricInFlight       = "gatewayd_in_flight"
	MetricWorkerUp       = "gatewayd_worker_up"
	MetricWorkerLoadAge  = "gatewayd_worker_load_age_seconds"
	MetricWorkerOpenings = "gatewayd_worker_breaker_openings_total"
	MetricWorkerPauses   = "gatewayd_worker_pauses_total"
	MetricWorkerRunning  = "gatewayd_worker_running_requests"
	MetricWorkerWaiting  = "gatewayd_worker_waiting_requests"
	MetricWorkerKV       = "gatewayd_worker_kv_used_ratio"
	MetricTokens         = "gatewayd_tokens_total"
	MetricEnergy         = "gatewayd_energy_joules_total"

	MetricDecisions        = "gatewayd_decisions_total"
	MetricPickDuration     = "gatewayd_strategy_pick_duration_seconds"
	MetricDeadlineExceeded = "gatewayd_strategy_deadline_exceeded_total"
	MetricFallbacks        = "gatewayd_strategy_fallback_total"
	MetricPluginUp         = "gatewayd_plugin_up"
	MetricPluginRestarts   = "gatewayd_plugin_restarts_total"

	MetricPlanVersion  = "gatewayd_plan_version"
	MetricPlanAge      = "gatewayd_plan_age_seconds"
	MetricPlanKeys     = "gatewayd_plan_keys"
	MetricPlanDuration = "gatewayd_plan_duration_seconds"
	MetricPlanInstalls = "gatewayd_plan_installs_total"
	MetricLeader       = "gatewayd_planner_leader"

	MetricStateUp     = "gatewayd_state_up"
	MetricStateAge    = "gatewayd_state_age_seconds"
	MetricStateSync   = "gatewayd_state_sync_duration_seconds"
	MetricStateErrors = "gatewayd_state_sync_errors_total"
	MetricStatePeers  = "gatewayd_state_peers"
	MetricHoldLookups = "gatewayd_state_hold_lookups_total"

	MetricSpansDropped = "gatewayd_spans_dropped_total"
	MetricRecorded     = "gatewayd_recorded_requests_total"

	MetricShadowDecisions = "gatewayd_shadow_decisions_total"
	MetricShadowDropped   = "gatewayd_shadow_dropped_total"
	MetricShadowComputed  = "gatewayd_shadow_prompt_tokens_computed_total"
	MetricShadowImbalance = "gatewayd_shadow_imbalance_ratio"

	MetricReloads  = "gatewayd_config_reloads_total"
	MetricReloadOK = "gatewayd_config_ok"
	MetricDraining = "gatewayd_config_draining"
)

// Labels of the metrics.
const (
	labelOperation = "gen_ai_operation_name"
	labelProvider  = "gen_ai_provider_name"
	labelModel     = "gen_ai_request_model"
	labelTokenType = "gen_ai_token_type"
	labelError     = "error_type"

	labelOutcome  = "outcome"
	labelCode     = "code"
	labelReason   = "reason"
	labelStage    = "stage"
	labelPool     = "pool"
	labelWhat     = "what"
	labelWorker   = "worker"
	labelType     = "type"
	labelStrategy = "strategy"
	labelFrom     = "from"
	labelTo       = "to"
	labelPlugin   = "plugin"
	labelResult   = "result"
	labelSource   = "source"
	labelVersion  = "version"
	labelChain    = "chain"
	labelAgrees   = "agrees"
	labelChoice   = "choice"
	labelGo       = "goversion"
)
