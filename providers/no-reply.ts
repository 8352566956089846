import { NoReply } from './http.ts'
import { ProviderError, type ProviderFault } from './provider.ts'

/** For the `catch` of a request: without a reply the provider is down, and the sign-in failed at this point. */
export function noReplyAs(kind: ProviderFault): (error: unknown) => never {
  return (error) => {
    if (error instanceof NoReply) throw new ProviderError(kind, error.message, { isDown: true })
    throw error
  }
}
