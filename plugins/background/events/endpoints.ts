/**
 * Creates, changes and deletes endpoints for admins. Endpoints from the environment are configured there, and can only
 * be paused here.
 */
import type { Trx } from '../../../db/core/database.ts'
import {
  deleteWebhook,
  insertWebhook,
  lockWebhook,
  updateWebhook,
  type WebhookRow,
} from '../../../db/events/webhooks.ts'
import { validationFailed, webhookNotFound } from '../../../schemas/errors.ts'
import type { NewWebhook, WebhookChange } from '../../../schemas/webhook.ts'
import type { Deps } from '../../define-plugin.ts'
import { generateWebhookSecret } from './message.ts'
import { decryptWebhookSecrets, encryptWebhookSecrets } from './secrets.ts'

type EndpointDeps = Deps<'config' | 'encryption' | 'httpClient'>

interface Made {
  webhook: WebhookRow
  /** Shown once. */
  secret: string
}

/** Throws validation_failed for a URL that events may not be sent to. */
export async function createEndpoint(
  deps: EndpointDeps,
  trx: Trx,
  { url, description = '', events = [], secret = generateWebhookSecret() }: NewWebhook,
  now: Date,
): Promise<Made> {
  checkUrl(deps, url)
  const id = crypto.randomUUID()
  const secrets = encryptWebhookSecrets(deps, id, [{ secret }])
  const row = { id, source: 'api' as const, url, description, events, secrets }
  return { webhook: await insertWebhook(trx, row, now), secret }
}

/** Returns the endpoint before and after the change. Throws webhook_not_found or validation_failed. */
export async function changeEndpoint(
  deps: EndpointDeps,
  trx: Trx,
  id: string,
  { url, description, events, state }: WebhookChange,
  now: Date,
): Promise<{ before: WebhookRow; after: WebhookRow }> {
  const before = await requireEndpoint(trx, id)
  const isSetting = [url, description, events].some((value) => value !== undefined)
  if (isSetting) requireOwn(before)
  if (url !== undefined) checkUrl(deps, url)
  const change = {
    ...(url !== undefined && { url }),
    ...(description !== undefined && { description }),
    ...(events !== undefined && { events }),
    ...(state !== undefined && { state, reason: null }),
  }
  return { before, after: await updateWebhook(trx, id, change, now) }
}

/** Pending deliveries are dropped. Throws webhook_not_found or validation_failed. */
export async function removeEndpoint(trx: Trx, id: string): Promise<WebhookRow> {
  const webhook = await requireEndpoint(trx, id)
  requireOwn(webhook)
  await deleteWebhook(trx, id)
  return webhook
}

/**
 * Creates a new secret; the previous ones keep signing for `overlapSeconds`. Throws webhook_not_found,
 * validation_failed, and DecryptionError when the stored secrets cannot be decrypted.
 */
export async function rotateSecret(
  deps: EndpointDeps,
  trx: Trx,
  id: string,
  { secret = generateWebhookSecret(), overlapSeconds }: { secret?: string; overlapSeconds: number },
  now: Date,
): Promise<Made> {
  const webhook = await requireEndpoint(trx, id)
  requireOwn(webhook)
  const end = new Date(now.getTime() + overlapSeconds * 1000).toISOString()
  const earlier = decryptWebhookSecrets(deps, webhook, now).map(({ secret, until }) => ({
    secret,
    until: until !== undefined && until < end ? until : end,
  }))
  const secrets = encryptWebhookSecrets(deps, id, [{ secret }, ...earlier].slice(0, maxSecrets))
  return { webhook: await updateWebhook(trx, id, { secrets }, now), secret }
}

/** Each secret adds a signature to a header of every request. */
const maxSecrets = 5

async function requireEndpoint(trx: Trx, id: string): Promise<WebhookRow> {
  const webhook = await lockWebhook(trx, id)
  if (!webhook) throw webhookNotFound()
  return webhook
}

function requireOwn({ source }: WebhookRow): void {
  if (source === 'api') return
  throw validationFailed(
    'This webhook is configured in AUTH_WEBHOOK_ENDPOINTS: change it there. It can be paused here.',
    422,
  )
}

function checkUrl({ config, httpClient }: EndpointDeps, text: string): void {
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
