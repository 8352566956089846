/** The job that refreshes the metadata of identity providers. */
import type { FastifyPluginAsync } from 'fastify'

import { refreshStaleMetadata } from './metadata.ts'

/** Stale metadata is refreshed in the background, so that no sign-in waits for it. */
const saml: FastifyPluginAsync = async (app) => {
  const refresh = async () => {
    if (app.config.AUTH_SAML_ENABLED) await refreshStaleMetadata(app, new Date())
  }
  app.jobQueue.addTask('refresh_saml_metadata', refresh, { cron: '23 * * * *' })
}

export default saml
