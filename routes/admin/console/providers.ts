import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'

import { listCustomProviders } from '../../../db/custom-providers/providers.ts'
import { recordAdminAction } from '../../../modules/audit/index.ts'
import { describeProviders } from '../../../modules/settings/index.ts'
import { ProviderSummaries, ProviderTest } from '../../../schemas/console/providers.ts'
import { ErrorResponses } from '../../../schemas/error.ts'
import { ApiError } from '../../../schemas/errors.ts'
import { customCallbackUrl } from '../../../schemas/values/callback-urls.ts'

const tags = ['admin']

const readSchema = {
  summary: 'List external providers, whether they are enabled, and what to register with them',
  tags,
  response: { 200: ProviderSummaries, ...ErrorResponses },
}

const testSchema = {
  summary: 'Test a provider',
  description: 'Fetches its metadata, if any, and its sign-in page, without a sign-in.',
  tags,
  params: Type.Object({ name: Type.String() }),
  response: { 200: ProviderTest, ...ErrorResponses },
}

const providers: FastifyPluginAsyncTypebox = async (app) => {
  const { audit, bearerAuth, config, db, httpClient, oauthProviders } = app

  app.get(
    '/admin/providers',
    { config: { minimumRole: 'support' }, schema: readSchema },
    async () => {
      const custom = config.AUTH_CUSTOM_OAUTH_ENABLED ? await listCustomProviders(db) : []
      const added = custom.map((row) => ({
        name: row.identifier,
        title: row.name,
        kind: 'custom' as const,
        enabled: row.enabled,
        callback_url: customCallbackUrl(config, row),
        client_id: row.client_id,
        has_secret: true,
        issuer: row.issuer,
      }))
      return { providers: [...describeProviders(config), ...added] }
    },
  )

  app.post(
    '/admin/providers/:name/test',
    { config: { minimumRole: 'operator' }, schema: testSchema },
    async (request) => {
      const now = new Date()
      const { name } = request.params
      await db.transaction().execute(async (trx) => {
        await bearerAuth.reauthorizeAdmin(trx, request, now)
        await recordAdminAction(audit, trx, 'provider_tested', request, { now, provider: name })
      })
      const steps = await testProvider(name, now)
      return { ok: steps.every(({ ok }) => ok), steps }
    },
  )

  async function testProvider(name: string, now: Date) {
    const start = { state: crypto.randomUUID(), scopes: [], params: {}, now }
    const begun = await attempt('Configuration and metadata', async () => {
      const { url } = await oauthProviders.start(name, start)
      return { detail: `Sign-ins start at ${url.host}`, url }
    })
    if (!begun.url) return [begun.step]
    const { url } = begun
    const page = await attempt('Sign-in page', async () => {
      const response = await httpClient.guardedFetch(url, { redirect: 'manual' })
      if (response.status >= 400) throw new Error(`It returns status ${response.status}`)
      return { detail: `It returns status ${response.status}` }
    })
    return [begun.step, page.step]
  }
}

async function attempt(step: string, work: () => Promise<{ detail: string; url?: URL }>) {
  try {
    const { detail, url } = await work()
    return { step: { step, ok: true, detail }, url }
  } catch (error) {
    return { step: { step, ok: false, detail: describeError(error) }, url: undefined }
  }
}

/** The cause of a server error is more specific than the message for users. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  const isOurs = error instanceof ApiError && cause instanceof Error
  return isOurs ? `${error.message}: ${cause.message}` : error.message
}

export default providers
