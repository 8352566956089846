/** The secrets of an endpoint: in the environment, or encrypted in its row, where one follows another. */
import { type Static, Type } from '@sinclair/typebox'

import type { WebhookRow } from '../../db/webhooks.ts'
import { readStored } from '../../schemas/stored.ts'
import type { House } from '../define-plugin.ts'
import { environmentId } from './environment.ts'

const what = 'The secrets of a webhook'

const Stored = Type.Object({
  v: Type.Literal(1),
  /** The newest first; an earlier one signs until its moment. */
  secrets: Type.Array(Type.Object({ secret: Type.String(), until: Type.Optional(Type.String()) })),
})
type Secrets = Static<typeof Stored>['secrets']

export function sealSecrets(
  { encryption }: House<'encryption'>,
  id: string,
  secrets: Secrets,
): string {
  const stored: Static<typeof Stored> = { v: 1, secrets }
  return encryption.encrypt(id, JSON.stringify(stored))
}

/** Those that sign now, the newest first; none where another replica alone has the endpoint in its environment. */
export function secretsOf(
  house: House<'config' | 'encryption'>,
  webhook: Pick<WebhookRow, 'id' | 'source' | 'secrets'>,
  now: Date,
): string[] {
  if (webhook.source === 'api') return openSecrets(house, webhook, now).map(({ secret }) => secret)
  const endpoints = house.config.AUTH_WEBHOOK_ENDPOINTS
  return endpoints.find(({ url }) => environmentId(url) === webhook.id)?.secrets ?? []
}

/** Throws DecryptionError or StoredFormError. */
export function openSecrets(
  { encryption }: House<'encryption'>,
  { id, secrets: sealed }: Pick<WebhookRow, 'id' | 'secrets'>,
  now: Date,
): Secrets {
  const stored = readStored(Stored, JSON.parse(encryption.decrypt(id, sealed, what)), what)
  return stored.secrets.filter(({ until }) => until === undefined || new Date(until) > now)
}
