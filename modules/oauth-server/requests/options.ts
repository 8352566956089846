/** The parameters of OpenID Connect Core §3.1.2.1 for the interaction with the user. */
import type { OauthRequestParameters } from '../../../db/tables/oauth-server.ts'
import type { Client } from '../clients/client.ts'
import { scopeList } from '../scopes.ts'
import { readAcr } from './acr.ts'
import { AuthorizationError } from './authorization-error.ts'
import { parseClaims, readClaims } from './claims.ts'
import { type SentParameters, sentValue } from './sent.ts'

const prompts = ['none', 'login', 'consent', 'select_account', 'create']

/** `scopes`: the client's allowed scopes. Throws AuthorizationError. */
export function readOptions(
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
