/** The job that refreshes the metadata of identity providers. */
import { defineHooksPlugin } from '../../plugins/define-plugin.ts'
import { refreshStaleMetadata } from './metadata.ts'

/** Stale metadata is refreshed in the background, so that no sign-in waits for it. */
export default defineHooksPlugin({
  name: 'saml',
  deps: ['config', 'db', 'httpClient', 'jobQueue', 'log'],
  install(deps) {
    const refresh = async () => {
      if (deps.config.AUTH_SAML_ENABLED) await refreshStaleMetadata(deps, new Date())
    }
    deps.jobQueue.addTask('refresh_saml_metadata', refresh, { cron: '23 * * * *' })
  },
})
