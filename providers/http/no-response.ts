import { ProviderError, type ProviderErrorKind } from '../core/provider-error.ts'
import { NoReply } from './request.ts'

/** A `catch` handler for a request: without a response the provider counts as unavailable, with this error kind. */
export function noReplyAs(kind: ProviderErrorKind): (error: unknown) => never {
  return (error) => {
    if (error instanceof NoReply) throw new ProviderError(kind, error.message, { isDown: true })
    throw error
  }
}
