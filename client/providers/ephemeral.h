// Create, run, delete; with the knowledge of whether the code may have run.
#ifndef OPENSANDBOX_CLIENT_PROVIDERS_EPHEMERAL_H_
#define OPENSANDBOX_CLIENT_PROVIDERS_EPHEMERAL_H_

#include "opensandbox/providers/sandbox_provider.h"

namespace opensandbox::internal {

// RunCodeInEphemeralSandbox(). `may_have_run` stays as it is if no sandbox came about.
Result<CodeExecutionResult> RunInEphemeralSandbox(SandboxProvider& provider, const CreateSandboxRequest& create,
                                                  const RunCodeRequest& run, LeakSink* leak_sink, bool& may_have_run);

}  // namespace opensandbox::internal

#endif  // OPENSANDBOX_CLIENT_PROVIDERS_EPHEMERAL_H_
