/**
 * Mix-up (RFC 9700 §4.4): the operator of one provider leads the browser to another one, with the state of a sign-in at
 * the first, which then would receive the code of the other.
 */
import type { ProviderSettings } from '../../../providers/core/types.ts'
import { findDefinition } from '../../../providers/registry.ts'
import { isOwnCallback } from '../../../schemas/values/callback-urls.ts'

export interface ReceivedCallback {
  /** The provider in the path of the callback; undefined at the shared one. */
  at: string | undefined
  /** The issuer of the response (RFC 9207). */
  iss: string | undefined
}

interface NamedProvider {
  name: string
  settings: ProviderSettings
}

/**
 * Whether the response came to another redirect URI than that of the provider (RFC 9700 §4.4.2.2), or names the issuer
 * of another configured one: a provider whose own issuer is unknown cannot compare it.
 */
export function isOfAnother(
  { name, settings }: NamedProvider,
  { at, iss }: ReceivedCallback,
  configured: ReadonlyMap<string, ProviderSettings>,
): boolean {
  const expected = isOwnCallback(settings.redirectUri, name) ? name : undefined
  if (at !== expected) return true
  if (iss === undefined || acceptsIssuer(iss, name, settings)) return false
  return [...configured].some(
    ([other, values]) => getServer(other) !== getServer(name) && acceptsIssuer(iss, other, values),
  )
}

function acceptsIssuer(iss: string, name: string, settings: ProviderSettings): boolean {
  return findDefinition(name, settings)?.idToken?.accepts(iss, settings) === true
}

/** `linkedin` and `linkedin_oidc` are two protocols of one server. */
const getServer = (name: string): string => name.replace(/_oidc$/, '')
