/** Reads and validates the parameters of an authorization request (RFC 6749 §4.1.1, OpenID Connect Core §3.1.2.1). */
import type { FastifyInstance } from 'fastify'

import type { OauthRequestParameters } from '../../../db/tables/oauth-server.ts'
import { readPkce } from '../../flows/index.ts'
import type { Client } from '../clients/client.ts'
import { scopeList } from '../scopes.ts'
import { readAcr } from './acr.ts'
import { parseClaims, readClaims } from './claims.ts'
import { allowedScopes, readResources, readScope } from './scope.ts'
import { AuthorizationError, type SentParameters, sentValue, sentValues } from './sent.ts'

/** The stored parameters. */
interface ReadParameters {
  scope: string
  state: string | null
  nonce: string | null
  resource: string | null
  code_challenge: string | null
  code_challenge_method: 's256' | 'plain' | null
  parameters: OauthRequestParameters
}

/** Limits of GoTrue's columns, in characters. */
const maxLengths: Record<string, number> = {
  state: 4096,
  scope: 4096,
  nonce: 255,
  code_challenge: 128,
  login_hint: 320,
  ui_locales: 255,
  acr_values: 255,
  claims: 4096,
  // As the longest access tokens.
  id_token_hint: 16_384,
}

const readNames = [
  'response_type',
  'response_mode',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'resource',
  'code_challenge',
  'code_challenge_method',
  'prompt',
  'max_age',
  'login_hint',
  'ui_locales',
  'acr_values',
  'claims',
  'id_token_hint',
]

/** Without parameters that are ignored (RFC 6749 §3.1), which have no limit. */
export function withoutUnknown(sent: SentParameters): SentParameters {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => readNames.includes(name)))
}

/** Throws AuthorizationError, which is reported to the client through its redirect URI. */
export function readParameters(
  app: FastifyInstance,
  client: Client,
  sent: SentParameters,
): ReadParameters {
  checkForm(sent)
  checkKind(sent)
  const resources = readResources(app, client, sentValues(sent, 'resource'))
  return {
    scope: readScope(app, client, sentValue(sent, 'scope')),
    state: sentValue(sent, 'state') ?? null,
    nonce: sentValue(sent, 'nonce') ?? null,
    // GoTrue's column holds one resource; the parameters contain all of them.
    resource: resources[0] ?? null,
    ...readChallenge(client, sent),
    parameters: readOptions(client, sent, { resources, scopes: allowedScopes(app, client) }),
  }
}

/** RFC 6749 §3.1: no repeated parameter, except `resource` (RFC 8707 §2). */
function checkForm(sent: SentParameters): void {
  for (const [name, value] of Object.entries(sent)) {
    if (name !== 'resource' && typeof value !== 'string' && value.length > 1) {
      throw new AuthorizationError('invalid_request', `The parameter ${name} was sent twice`)
    }
    const limit = maxLengths[name]
    if (limit !== undefined && (sentValue(sent, name)?.length ?? 0) > limit) {
      throw new AuthorizationError('invalid_request', `${name} has more than ${limit} characters`)
    }
  }
}

function checkKind(sent: SentParameters): void {
  const responseType = sentValue(sent, 'response_type')
  if (responseType === undefined) {
    throw new AuthorizationError('invalid_request', 'response_type is missing')
  }
  if (responseType !== 'code') {
    throw new AuthorizationError('unsupported_response_type', 'response_type must be code')
  }
  if (sentValue(sent, 'request')) {
    throw new AuthorizationError('request_not_supported', 'Request objects are not supported')
  }
  if (sentValue(sent, 'request_uri')) {
    throw new AuthorizationError('request_uri_not_supported', 'Push the request to /oauth/par')
  }
  if (sentValue(sent, 'registration')) {
    throw new AuthorizationError('registration_not_supported', 'Register the client beforehand')
  }
}

/** PKCE (RFC 7636 §4.3): required for public clients, and for confidential ones unless the operator disabled it. */
function readChallenge(client: Client, sent: SentParameters) {
  const code_challenge = sentValue(sent, 'code_challenge')
  const method = sentValue(sent, 'code_challenge_method')
  if (!code_challenge) {
    const isOptional = client.type === 'confidential' && client.settings.require_pkce === false
    if (isOptional && !method) return { code_challenge: null, code_challenge_method: null }
    throw new AuthorizationError('invalid_request', 'code_challenge is missing (PKCE, RFC 7636)')
  }
  try {
    const pkce = readPkce({ code_challenge, code_challenge_method: method ?? 'plain' })
    return {
      code_challenge: pkce?.challenge ?? null,
      code_challenge_method: pkce?.method ?? null,
    }
  } catch (error) {
    throw new AuthorizationError('invalid_request', error instanceof Error ? error.message : '')
  }
}

// The parameters of OpenID Connect Core §3.1.2.1 for the interaction with the user.

const prompts = ['none', 'login', 'consent', 'select_account', 'create']

/** `scopes`: the client's allowed scopes. Throws AuthorizationError. */
function readOptions(
  { settings }: Client,
  sent: SentParameters,
  { resources, scopes }: { resources: string[]; scopes: readonly string[] },
): OauthRequestParameters {
  const prompt = readPrompt(sentValue(sent, 'prompt'))
  const maxAge = readMaxAge(sentValue(sent, 'max_age')) ?? settings.default_max_age
  const loginHint = sentValue(sent, 'login_hint')
  const locales = sentValue(sent, 'ui_locales')
  const hint = sentValue(sent, 'id_token_hint')
  const claims = parseClaims(sentValue(sent, 'claims'))
  return {
    ...(prompt.length > 0 && { prompt }),
    ...(maxAge !== undefined && { max_age: maxAge }),
    ...(loginHint && { login_hint: loginHint }),
    ...(locales && { ui_locales: locales }),
    ...(hint && { id_token_hint: hint }),
    ...(resources.length > 0 && { resources }),
    ...readAcr(sentValue(sent, 'acr_values'), claims),
    ...readClaims(claims, scopes),
  }
}

function readPrompt(sent = ''): string[] {
  const values = scopeList(sent)
  const unknown = values.find((value) => !prompts.includes(value))
  if (unknown !== undefined) {
    throw new AuthorizationError('invalid_request', `prompt may contain ${prompts.join(', ')}`)
  }
  if (values.includes('none') && values.length > 1) {
    throw new AuthorizationError(
      'invalid_request',
      'prompt=none cannot be combined with other values',
    )
  }
  return values
}

function readMaxAge(sent: string | undefined): number | undefined {
  if (sent === undefined) return undefined
  if (!/^\d{1,9}$/.test(sent)) {
    throw new AuthorizationError('invalid_request', 'max_age must be a number of seconds')
  }
  return Number(sent)
}
