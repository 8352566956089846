/** An OAuth client in the module's form and in that of the API. */
import { createHash, randomBytes } from 'node:crypto'

import type { ClientRow } from '../../../db/oauth-server/clients.ts'
import type { OauthClientSettings } from '../../../db/tables/oauth-server.ts'
import type { OauthClient } from '../../../schemas/oauth/client.ts'
import { isEqualInConstantTime } from '../../../schemas/values/constant-time.ts'

export type AuthMethod = 'client_secret_basic' | 'client_secret_post' | 'none' | 'private_key_jwt'

export interface Client {
  /** The id of the row. */
  id: string
  /** The public client_id: the id of the row, or the URL of the metadata document. */
  clientId: string
  type: 'public' | 'confidential'
  secretHash: string | null
  authMethod: AuthMethod
  redirectUris: string[]
  grantTypes: string[]
  name: string | null
  uri: string | null
  logoUri: string | null
  settings: OauthClientSettings
  /** Its metadata was not verified by an operator. */
  isSelfRegistered: boolean
  /** Its metadata comes from the document at its URL. */
  isDocument: boolean
  reconsentAfter: Date | null
  row: ClientRow
}

/** GoTrue joins lists by commas, so no entry may contain one. */
export const joinList = (list: readonly string[]): string => list.join(',')
const split = (list: string): string[] => list.split(',').filter(Boolean)

export function toClient(row: ClientRow): Client {
  const settings = row.settings ?? {}
  return {
    id: row.id,
    clientId: row.document_url ?? row.id,
    type: row.client_type,
    secretHash: row.client_secret_hash,
    authMethod: settings.token_endpoint_auth_method ?? row.token_endpoint_auth_method,
    redirectUris: split(row.redirect_uris),
    grantTypes: split(row.grant_types),
    name: row.client_name || null,
    uri: row.client_uri || null,
    logoUri: row.logo_uri || null,
    settings,
    isSelfRegistered: row.registration_type === 'dynamic',
    isDocument: row.document_url !== null,
    reconsentAfter: row.reconsent_after,
    row,
  }
}

/** The client in the audit log, without fields that change automatically. */
export function auditedClient(client: Client) {
  const { created_at, updated_at, ...fields } = showClient(client)
  return fields
}

/** The client as admins and the client itself see it, without secrets. */
export function showClient(client: Client): OauthClient {
  const { settings, row } = client
  return {
    client_id: client.clientId,
    client_type: client.type,
    registration_type: row.registration_type,
    ...settings,
    redirect_uris: client.redirectUris,
    token_endpoint_auth_method: client.authMethod,
    grant_types: client.grantTypes,
    response_types: ['code'],
    ...(client.name && { client_name: client.name }),
    ...(client.uri && { client_uri: client.uri }),
    ...(client.logoUri && { logo_uri: client.logoUri }),
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

/** A generated secret, shown once and stored as a hash: 32 random bytes as base64url. */
export const makeSecret = (): string => randomBytes(32).toString('base64url')

/** base64url of the SHA-256, as GoTrue stores client secrets. */
export const hashClientSecret = (secret: string): string =>
  createHash('sha256').update(secret).digest('base64url')

/** Compares in constant time. */
export function isSecret(secret: string, hash: string | null): boolean {
  return hash !== null && isEqualInConstantTime(hashClientSecret(secret), hash)
}
