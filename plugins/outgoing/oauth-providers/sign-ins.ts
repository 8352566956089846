/** Starts authorizations and identifies users. */
import { setTimeout as pause } from 'node:timers/promises'

import { ProviderError } from '../../../providers/core/provider-error.ts'
import type {
  AuthorizationRequest,
  Callback,
  ProviderAuthorization,
  ProviderHttp,
  ProviderIdentity,
} from '../../../providers/core/types.ts'
import { type IdTokenSignIn, identityFromIdToken } from '../../../providers/id-token.ts'
import type { IdTokenRequest } from '../../../providers/id-token-selection.ts'
import { issuerOfCustom } from './custom.ts'
import { authorizationError, callbackError, toIdTokenApiError } from './errors.ts'
import type { createLookUp } from './usable.ts'

export interface SignInDeps {
  /** For an issuer's metadata and keys. One per provider, because clients may name enough tenants to fill a cache. */
  getIdTokenHttp(provider: string): ProviderHttp
  /** Issuers without a provider, each with its audiences. */
  allowedIssuers: ReadonlyMap<string, readonly string[]>
  /** For all requests to a provider in one step, so that the browser gets a timely response. */
  deadlineMs: number
  /** For steps that fetch metadata and keys only: a healthy provider responds quickly. */
  metadataDeadlineMs: number
}

/** The steps of a sign-in that call the provider. */
export function createSignIns(
  deps: SignInDeps,
  { get, forIdTokens }: ReturnType<typeof createLookUp>,
) {
  const { getIdTokenHttp: getProviderHttp, allowedIssuers, deadlineMs, metadataDeadlineMs } = deps

  return {
    /** Returns the authorization URL. Throws validation_failed for an unusable provider, service_unavailable. */
    async start(name: string, request: AuthorizationRequest): Promise<ProviderAuthorization> {
      try {
        const { provider } = await get(name)
        return await withTimeout(provider.authorizationUrl(request), metadataDeadlineMs)
      } catch (error) {
        throw authorizationError(error, name)
      }
    },

    /**
     * Identifies the user of a callback. Throws bad_oauth_callback, service_unavailable, or unexpected_failure with the
     * reason as its cause.
     */
    async identify(name: string, callback: Callback): Promise<ProviderIdentity> {
      try {
        const { provider, settings } = await get(name)
        const identity = await withTimeout(provider.identity(callback), deadlineMs)
        return { ...identity, issuer: issuerOfCustom(settings) }
      } catch (error) {
        throw callbackError(error, name)
      }
    },

    /**
     * Identifies the user of an id_token. Throws validation_failed, provider_disabled, service_unavailable,
     * unexpected_failure.
     */
    async identifyByIdToken(request: IdTokenRequest, now: Date): Promise<IdTokenSignIn> {
      try {
        const known = await forIdTokens(request.provider)
        const context = { getProviderHttp, providers: known, allowedIssuers, now }
        const signIn = await withTimeout(identityFromIdToken(request, context), metadataDeadlineMs)
        const issuer = issuerOfCustom(known.get(signIn.provider))
        return { ...signIn, identity: { ...signIn.identity, issuer } }
      } catch (error) {
        const { provider, issuer = '' } = request
        throw toIdTokenApiError(error, provider || issuer)
      }
    },
  }
}

/** Resolves with `work`; throws ProviderError discovery when it takes longer. */
async function withTimeout<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const done = new AbortController()
  const timeout = pause(milliseconds, undefined, { signal: done.signal }).then(() => {
    throw new ProviderError('discovery', `no answer within ${milliseconds} ms`, { isDown: true })
  })
  try {
    return await Promise.race([work, timeout])
  } finally {
    done.abort()
  }
}
