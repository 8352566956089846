import type { ConfigIssue } from '../core/config-error.ts'
import type { Config } from '../groups/index.ts'
import { missing } from './missing.ts'

/** The requirements of RFC 9116 on a security.txt. */
export function securityTxtRule(config: Config): ConfigIssue[] {
  const contacts = config.AUTH_SECURITY_TXT_CONTACT
  if (contacts.length === 0) return []
  const invalid = contacts.filter(
    (contact) => !/^(mailto:\S+@\S+|https:\/\/\S+|tel:\S+)$/i.test(contact),
  )
  return [
    ...missing(config, ['AUTH_SECURITY_TXT_EXPIRES'], 'AUTH_SECURITY_TXT_CONTACT is set'),
    ...invalid.map((contact) => ({
      variable: 'AUTH_SECURITY_TXT_CONTACT',
      problem: `contains "${contact}"`,
      hint: 'each contact must be an address such as mailto:security@example.com or https://example.com/report',
    })),
    ...languageIssues(config),
  ]
}

function languageIssues({ AUTH_SECURITY_TXT_PREFERRED_LANGUAGES: tags }: Config): ConfigIssue[] {
  const invalid = tags.filter((tag) => !/^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(tag))
  return invalid.map((tag) => ({
    variable: 'AUTH_SECURITY_TXT_PREFERRED_LANGUAGES',
    problem: `contains "${tag}"`,
    hint: 'it must be language tags such as en or pt-BR, separated by commas',
  }))
}
