/** The secrets of an endpoint: in the environment, or encrypted in its row, where they can be rotated. */
import { type Static, Type } from '@sinclair/typebox'

import type { WebhookRow } from '../../../db/events/webhooks.ts'
import { readStored } from '../../../schemas/values/stored.ts'
import type { Deps } from '../../define-plugin.ts'
import { environmentId } from './environment.ts'

const what = 'The secrets of a webhook'

const Stored = Type.Object({
  v: Type.Literal(1),
  /** Newest first; earlier ones sign until they expire. */
  secrets: Type.Array(Type.Object({ secret: Type.String(), until: Type.Optional(Type.String()) })),
})
type Secrets = Static<typeof Stored>['secrets']

export function encryptWebhookSecrets(
  { encryption }: Deps<'encryption'>,
  id: string,
  secrets: Secrets,
): string {
  const stored: Static<typeof Stored> = { v: 1, secrets }
  return encryption.encrypt(id, JSON.stringify(stored))
}

/** The secrets that sign now, newest first; none when the endpoint is only in the environment of another replica. */
export function listWebhookSecrets(
  deps: Deps<'config' | 'encryption'>,
  webhook: Pick<WebhookRow, 'id' | 'source' | 'secrets'>,
  now: Date,
): string[] {
  if (webhook.source === 'api') {
    return decryptWebhookSecrets(deps, webhook, now).map(({ secret }) => secret)
  }
  const endpoints = deps.config.AUTH_WEBHOOK_ENDPOINTS
  return endpoints.find(({ url }) => environmentId(url) === webhook.id)?.secrets ?? []
}

/** Throws DecryptionError or StoredFormError. */
export function decryptWebhookSecrets(
  { encryption }: Deps<'encryption'>,
  { id, secrets: encrypted }: Pick<WebhookRow, 'id' | 'secrets'>,
  now: Date,
): Secrets {
  const stored = readStored(Stored, JSON.parse(encryption.decrypt(id, encrypted, what)), what)
  return stored.secrets.filter(({ until }) => until === undefined || new Date(until) > now)
}
