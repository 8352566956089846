/** This server as a SAML service provider: its URLs, keys and certificates. */
import { createPrivateKey, type KeyObject } from 'node:crypto'

import type { FastifyInstance } from 'fastify'

import type { Config } from '../../config/groups/index.ts'
import { selfSignedCertificate, spMetadata } from '../../providers/saml/sp-metadata.ts'

interface ServiceProvider {
  entityId: string
  acsUrl: string
  /** The single logout endpoint. */
  logoutUrl: string
  /** The page that posts a request to a provider. */
  postUrl: string
  /** PEM; the current key, then the next one. */
  privateKeys: [string, ...string[]]
  /** Base64 of DER, in the same order. */
  certificates: string[]
}

const made = new WeakMap<Config, ServiceProvider>()

/** Created once per configuration. */
export function getServiceProvider({ config }: FastifyInstance): ServiceProvider {
  const known = made.get(config) ?? create(config)
  made.set(config, known)
  return known
}

function create(config: Config): ServiceProvider {
  const base = config.AUTH_SAML_EXTERNAL_URL ?? config.AUTH_API_EXTERNAL_URL
  const { hostname: host } = new URL(base)
  const encrypts = config.AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS
  const current = readKey(config.AUTH_SAML_PRIVATE_KEY ?? '')
  const next = config.AUTH_SAML_PRIVATE_KEY_NEXT ? [readKey(config.AUTH_SAML_PRIVATE_KEY_NEXT)] : []
  const certify = (privateKey: KeyObject) =>
    selfSignedCertificate({ privateKey, host, encrypts }).toString('base64')
  return {
    entityId: `${base}/sso/saml/metadata`,
    acsUrl: `${base}/sso/saml/acs`,
    logoutUrl: `${base}/sso/saml/slo`,
    postUrl: `${base}/sso/saml/post`,
    privateKeys: [exportPem(current), ...next.map(exportPem)],
    certificates: [current, ...next].map(certify),
  }
}

/** Base64 of PKCS #1, as in GoTrue. Throws for anything else. */
function readKey(base64: string): KeyObject {
  return createPrivateKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'pkcs1' })
}

const exportPem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()

const day = 86_400_000

/** The metadata for identity providers. A downloaded copy is valid for years, because it is installed manually. */
export function metadataFor(
  app: FastifyInstance,
  { isDownload }: { isDownload: boolean },
  now: Date,
) {
  const { AUTH_SAML_ALLOW_ENCRYPTED_ASSERTIONS: encrypts } = app.config
  const provider = getServiceProvider(app)
  const lifetime = isDownload ? 5 * 365 * day : 2 * day
  return spMetadata({
    ...provider,
    encrypts,
    validUntil: new Date(now.getTime() + lifetime),
    cacheDuration: hasNextKey(app) ? 'PT1H' : undefined,
  })
}

/** During a key rotation, providers should refresh more often. */
export function hasNextKey({ config }: FastifyInstance): boolean {
  return config.AUTH_SAML_PRIVATE_KEY_NEXT !== undefined
}
