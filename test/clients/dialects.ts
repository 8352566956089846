/**
 * Requests of the Dart and Swift clients by their published sources: fields, null values, empty bodies and the form of
 * ids.
 */
export interface Dialect {
  headers: Record<string, string>
  /** The body of a request without fields; undefined for none. */
  emptyBody: Fields | undefined
  /** For the request in which a client names the captcha field differently. */
  verification(fields: Fields): Fields
  /** Sign-ups, codes and recoveries, with the challenge of PKCE. */
  withChallenge(fields: Fields, challenge: string | undefined): Fields
  /** An id that the client has parsed. */
  id(text: string): string
  authorizeParams: Record<string, string>
}

export type Fields = Record<string, unknown>

const apiVersion = { 'x-supabase-api-version': '2024-01-01' }

/** gotrue for Dart and Flutter: sends each field, and a body on each request that may have one. */
export const dart: Dialect = {
  headers: {
    ...apiVersion,
    'x-client-info': 'supabase-flutter/2',
    'x-supabase-client-platform': 'android',
  },
  emptyBody: {},
  verification: (fields) => ({
    redirect_to: null,
    gotrue_meta_security: { captchaToken: null },
    ...fields,
  }),
  withChallenge: (fields, challenge) => ({
    data: {},
    gotrue_meta_security: { captcha_token: null },
    code_challenge: challenge ?? null,
    code_challenge_method: challenge ? 's256' : null,
    ...fields,
  }),
  id: (text) => text,
  authorizeParams: { flow_type: 'pkce' },
}

/** Auth for Swift: writes no field that is nil and no empty body; a UUID is spelled in capitals. */
export const swift: Dialect = {
  headers: { ...apiVersion, 'x-client-info': 'supabase-swift/2', 'user-agent': 'CFNetwork/1568' },
  emptyBody: undefined,
  verification: (fields) => fields,
  withChallenge: (fields, challenge) => ({
    ...fields,
    ...(challenge && { code_challenge: challenge, code_challenge_method: 's256' }),
  }),
  id: (text) => text.toUpperCase(),
  authorizeParams: {},
}
