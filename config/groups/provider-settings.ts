/** The settings of one provider as an object. */
import type { ProviderName } from '../../providers/registry.ts'
import { genericOidcNames, type ProviderVariableName } from './external-providers.ts'
import type { Config } from './index.ts'

export interface ProviderVariables {
  /** As clients spell it. */
  name: string
  enabled: boolean
  /** The first is used in the browser; each is an accepted audience of ID tokens. */
  clientIds: string[]
  secret: string | undefined
  redirectUri: string | undefined
  /** Replaces the provider's public URL. */
  url: string | undefined
  apiUrl: string | undefined
  emailOptional: boolean
  skipNonceCheck: boolean
  idTokenOnly: boolean
}

interface GenericOidcSettings extends ProviderVariables {
  issuer: string
  scopes: string[]
  acceptsHs256: boolean
}

/** The settings of a provider that has a file of its own. */
export function providerSettings(config: Config, name: ProviderName): ProviderVariables {
  const upper = name.toUpperCase() as ProviderVariableName
  return {
    name,
    enabled: config[`AUTH_EXTERNAL_${upper}_ENABLED`],
    clientIds: config[`AUTH_EXTERNAL_${upper}_CLIENT_ID`],
    secret: config[`AUTH_EXTERNAL_${upper}_SECRET`],
    redirectUri: config[`AUTH_EXTERNAL_${upper}_REDIRECT_URI`],
    url: config[`AUTH_EXTERNAL_${upper}_URL`],
    apiUrl: config[`AUTH_EXTERNAL_${upper}_API_URL`],
    emailOptional: config[`AUTH_EXTERNAL_${upper}_EMAIL_OPTIONAL`],
    skipNonceCheck: config[`AUTH_EXTERNAL_${upper}_SKIP_NONCE_CHECK`],
    idTokenOnly: config[`AUTH_EXTERNAL_${upper}_ID_TOKEN_ONLY`],
  }
}

/** The operator's OpenID Connect providers, sorted by name. */
export function genericOidcProviders(config: Config): GenericOidcSettings[] {
  return genericOidcNames(Object.keys(config)).map((name) => genericSettings(config, name))
}

/** The configured audiences of an issuer in AUTH_EXTERNAL_ALLOWED_ID_TOKEN_ISSUERS. */
export function allowedAudiences(
  { AUTH_EXTERNAL_ID_TOKEN_AUDIENCES: audiences }: Config,
  issuer: string,
): string[] {
  const named = Object.hasOwn(audiences, issuer) ? audiences[issuer] : undefined
  return (named ?? '')
    .split('|')
    .map((audience) => audience.trim())
    .filter((audience) => audience !== '')
}

function genericSettings(config: Config, name: string): GenericOidcSettings {
  const prefix = `AUTH_EXTERNAL_OIDC_${name}` as const
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  const texts = (value: unknown) => (Array.isArray(value) ? value.map(String) : [])
  const issuer = text(config[`${prefix}_ISSUER`]) ?? ''
  return {
    name: name.toLowerCase(),
    enabled: config[`${prefix}_ENABLED`] === true,
    issuer,
    scopes: texts(config[`${prefix}_SCOPES`]),
    clientIds: texts(config[`${prefix}_CLIENT_ID`]),
    secret: text(config[`${prefix}_SECRET`]),
    redirectUri: text(config[`${prefix}_REDIRECT_URI`]),
    url: issuer,
    apiUrl: undefined,
    emailOptional: config[`${prefix}_EMAIL_OPTIONAL`] === true,
    skipNonceCheck: config[`${prefix}_SKIP_NONCE_CHECK`] === true,
    idTokenOnly: config[`${prefix}_ID_TOKEN_ONLY`] === true,
    acceptsHs256: config[`${prefix}_ID_TOKEN_SIGNED_RESPONSE_ALG`] === 'HS256',
  }
}
