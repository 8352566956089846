/** Validation of provider fields. Each function throws validation_failed. */
import type { FastifyInstance } from 'fastify'

import type { CustomProviderInput } from '../../schemas/custom-provider.ts'
import { validationFailed } from '../../schemas/errors.ts'

/** Includes the prefix, as in GoTrue: lower case, at most 50 characters. */
const identifierPattern = /^custom:[a-z0-9:-]{0,42}[a-z0-9]$/

/** Parameters of the protocol, which the server sets itself. */
const reservedParams = [
  'client_id',
  'client_secret',
  'redirect_uri',
  'response_type',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'code_verifier',
  'request',
  'request_uri',
]

/** User fields that only the server sets. */
const blockedTargets = [
  'id',
  'aud',
  'role',
  'app_metadata',
  'created_at',
  'updated_at',
  'confirmed_at',
  'email_confirmed_at',
  'phone_confirmed_at',
  'email_verified',
  'phone_verified',
  'banned_until',
  'is_super_admin',
]

export function checkIdentifier(identifier: string): void {
  if (!identifier.startsWith('custom:')) {
    throw validationFailed('identifier must start with custom:, as in custom:example')
  }
  if (identifierPattern.test(identifier)) return
  throw validationFailed(
    'identifier must be custom: and up to 43 lower-case letters, digits, hyphens and colons, the last one a letter or digit',
  )
}

/** Validates a new or changed provider. */
export function checkCustomProviderFields(input: CustomProviderInput): void {
  checkAuthorizationParams(input.authorization_params ?? {})
  const blocked = Object.keys(input.attribute_mapping ?? {}).find((name) =>
    blockedTargets.includes(name.toLowerCase()),
  )
  if (blocked !== undefined) {
    throw validationFailed(`attribute_mapping cannot set ${blocked}, which the server sets`)
  }
  if (input.custom_claims_allowlist?.some((name) => name.trim() === '')) {
    throw validationFailed('custom_claims_allowlist cannot contain an empty name')
  }
}

function checkAuthorizationParams(params: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(params)) {
    if (reservedParams.includes(name.toLowerCase())) {
      throw validationFailed(
        `authorization_params cannot set ${name}, which is a protocol parameter`,
      )
    }
    if (typeof value !== 'string') {
      throw validationFailed(`authorization_params.${name} must be a string`)
    }
  }
}

const urlFields: readonly string[] = [
  'issuer',
  'discovery_url',
  'authorization_url',
  'token_url',
  'userinfo_url',
  'jwks_uri',
]

/** https only, and no address of a private network after DNS resolution. */
export async function checkUrls(
  { httpClient }: Pick<FastifyInstance, 'httpClient'>,
  input: CustomProviderInput,
): Promise<void> {
  for (const [name, value] of Object.entries(input)) {
    if (!urlFields.includes(name) || typeof value !== 'string' || value === '') continue
    const url = value.startsWith('https://') && URL.parse(value)
    if (!url) throw validationFailed(`${name} must be an absolute https URL`)
    if (url.username || url.password || url.hash) {
      throw validationFailed(`${name} must not have a user name, password or fragment`)
    }
    try {
      await httpClient.checkAddress(url)
    } catch (cause) {
      throw validationFailed(`${name} must be the URL of a host with a public address`, 400, cause)
    }
  }
}
