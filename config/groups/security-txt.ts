import { Type } from '@sinclair/typebox'

import { group, listField, textField } from '../core/fields.ts'
import { dateField } from '../core/values.ts'

const { Optional } = Type

export const securityTxt = group('Vulnerability reports', {
  AUTH_SECURITY_TXT_CONTACT: listField(
    'Where to report vulnerabilities of your installation: `mailto:`, `https:` or `tel:` addresses, the preferred one first. If set, `/.well-known/security.txt` is served (RFC 9116).',
    { default: [], 'x-example': 'mailto:security@example.com,https://example.com/report' },
  ),
  AUTH_SECURITY_TXT_EXPIRES: Optional(
    dateField(
      'When the security.txt becomes stale, at most a year ahead. Required with AUTH_SECURITY_TXT_CONTACT; renewing it confirms that the contact is still read.',
      { 'x-example': '2027-06-30T00:00:00Z' },
    ),
  ),
  AUTH_SECURITY_TXT_POLICY: Optional(
    textField('Address of your disclosure policy.', { 'x-type': 'link' }),
  ),
  AUTH_SECURITY_TXT_ACKNOWLEDGMENTS: Optional(
    textField('Address of the page that thanks reporters.', { 'x-type': 'link' }),
  ),
  AUTH_SECURITY_TXT_ENCRYPTION: Optional(
    textField('Address of the key for encrypted reports.', { 'x-type': 'link' }),
  ),
  AUTH_SECURITY_TXT_PREFERRED_LANGUAGES: listField(
    'Languages of reports, as tags such as `en,de`.',
    {
      default: [],
    },
  ),
})
