/** Endpoints as admins make, change and remove them. Those of the environment are changed there, and paused here. */
import type { Trx } from '../../db/database.ts'
import {
  deleteWebhook,
  insertWebhook,
  lockWebhook,
  updateWebhook,
  type WebhookRow,
} from '../../db/webhooks.ts'
import { validationFailed, webhookNotFound } from '../../errors.ts'
import type { NewWebhook, WebhookChange } from '../../schemas/webhook.ts'
import type { House } from '../define-plugin.ts'
import { openSecrets, sealSecrets } from './secrets.ts'
import { newSecret } from './signature.ts'

type EndpointHouse = House<'config' | 'encryption' | 'httpClient'>

interface Made {
  webhook: WebhookRow
  /** To be shown once. */
  secret: string
}

/** Throws validation_failed for an address where nothing may be sent. */
export async function createEndpoint(
  house: EndpointHouse,
  trx: Trx,
  { url, description = '', events = [], secret = newSecret() }: NewWebhook,
  now: Date,
): Promise<Made> {
  checkUrl(house, url)
  const id = crypto.randomUUID()
  const secrets = sealSecrets(house, id, [{ secret }])
  const row = { id, source: 'api' as const, url, description, events, secrets }
  return { webhook: await insertWebhook(trx, row, now), secret }
}

/** The endpoint as it was and as it is now. Throws webhook_not_found or validation_failed. */
export async function changeEndpoint(
  house: EndpointHouse,
  trx: Trx,
  id: string,
  { url, description, events, state }: WebhookChange,
  now: Date,
): Promise<{ before: WebhookRow; after: WebhookRow }> {
  const before = await requireEndpoint(trx, id)
  const isSetting = [url, description, events].some((value) => value !== undefined)
  if (isSetting) requireOwn(before)
  if (url !== undefined) checkUrl(house, url)
  const change = {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(events !== undefined && { events }),
    ...(state !== undefined && { state, reason: null }),
  }
  return { before, after: await updateWebhook(trx, id, change, now) }
}

/** Throws webhook_not_found or validation_failed. What waits for it is not sent any more. */
export async function removeEndpoint(trx: Trx, id: string): Promise<WebhookRow> {
  const webhook = await requireEndpoint(trx, id)
  requireOwn(webhook)
  await deleteWebhook(trx, id)
  return webhook
}

/**
 * A new secret, beside which the ones before it sign for `overlapSeconds` more. Throws webhook_not_found,
 * validation_failed, and DecryptionError when the stored ones cannot be read.
 */
export async function rotateSecret(
  house: EndpointHouse,
  trx: Trx,
  id: string,
  { secret = newSecret(), overlapSeconds }: { secret?: string; overlapSeconds: number },
  now: Date,
): Promise<Made> {
  const webhook = await requireEndpoint(trx, id)
  requireOwn(webhook)
  const end = new Date(now.getTime() + overlapSeconds * 1000).toISOString()
  const earlier = openSecrets(house, webhook, now).map(({ secret, until }) => ({
    secret,
    until: until !== undefined && until < end ? until : end,
  }))
  const secrets = sealSecrets(house, id, [{ secret }, ...earlier].slice(0, mostSecrets))
  return { webhook: await updateWebhook(trx, id, { secrets }, now), secret }
}

/** Each is a signature in a header of every request. */
const mostSecrets = 5

async function requireEndpoint(trx: Trx, id: string): Promise<WebhookRow> {
  const webhook = await lockWebhook(trx, id)
  if (!webhook) throw webhookNotFound()
  return webhook
}

function requireOwn({ source }: WebhookRow): void {
  if (source === 'api') return
  throw validationFailed(
    'This webhook comes from AUTH_WEBHOOK_ENDPOINTS: change it there. It can be paused here.',
    422,
  )
}

function checkUrl({ config, httpClient }: EndpointHouse, text: string): void {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password) {
    throw validationFailed('url must be an https address without a user name or password')
  }
  if (config.AUTH_WEBHOOK_PRIVATE_ADDRESSES) return
  try {
    httpClient.assertAllowed(url)
  } catch {
    throw validationFailed(
      'url must be an https address on the public internet (AUTH_WEBHOOK_PRIVATE_ADDRESSES allows others)',
    )
  }
}
