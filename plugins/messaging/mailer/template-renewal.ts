/** AUTH_MAILER_TEMPLATE_RELOADING_ENABLED: refreshes templates before an email needs them. */
import type { MailRenderer } from '../../../mail/render.ts'
import type { Deps } from '../../define-plugin.ts'
import { refreshPeriodically } from '../../localization/languages/renewal.ts'

/** An unavailable template does not delay the start. */
export function refreshTemplates(deps: Deps<'addHook' | 'config'>, renderer: MailRenderer): void {
  deps.addHook('onReady', renderer.readLocalTemplates)
  if (!deps.config.AUTH_MAILER_TEMPLATE_RELOADING_ENABLED) return
  const renew = () => renderer.renewTemplates()
  refreshPeriodically(deps, { first: () => void renew(), renew })
}
