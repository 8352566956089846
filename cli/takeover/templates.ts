import type { Config } from '../../config/groups/index.ts'
import { note, type TakeoverFinding } from './finding.ts'

/**
 * Checks templates that GoTrue fetches from an internal server, which is not allowed here (docs/email-templates.md).
 */
export function templates(config: Config): TakeoverFinding[] {
  const addresses = Object.entries(config).filter(
    ([name, value]) =>
      name.startsWith('AUTH_MAILER_TEMPLATES_') && /^http:/i.test(String(value ?? '')),
  )
  return addresses.map(([name]) =>
    note(
      `${name} is not an https URL, so the built-in email would be sent instead: put the template into AUTH_TEMPLATES_DIR, or serve it over https.`,
    ),
  )
}
