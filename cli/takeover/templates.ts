import type { Config } from '../../plugins/config/config.ts'
import { type Finding, note } from './finding.ts'

/** Templates that GoTrue fetches from a server beside it, and that are not fetched here (docs/email-templates.md). */
export function templates(config: Config): Finding[] {
  const addresses = Object.entries(config).filter(
    ([name, value]) =>
      name.startsWith('AUTH_MAILER_TEMPLATES_') && /^http:/i.test(String(value ?? '')),
  )
  return addresses.map(([name]) =>
    note(
      `${name} is no https address, so that the built-in mail would be sent in its place: put the template into AUTH_TEMPLATES_DIR, or serve it by https.`,
    ),
  )
}
