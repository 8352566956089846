/** The attributes of a user (RFC 7643 §4.1 and §4.3). There is no password: SCIM clients do not set one. */
import {
  attribute,
  complex,
  listAttribute,
  readOnly,
  referenceAttribute,
  type ScimAttribute,
} from './attributes.ts'

const nameParts = [
  attribute('formatted', 'The whole name.'),
  attribute('familyName', 'The family name.'),
  attribute('givenName', 'The given name.'),
  attribute('middleName', 'The middle names.'),
  attribute('honorificPrefix', 'The title before the name.'),
  attribute('honorificSuffix', 'The suffix after the name.'),
]

const addressParts = [
  attribute('formatted', 'The whole address.'),
  attribute('streetAddress', 'Street and number.'),
  attribute('locality', 'The city.'),
  attribute('region', 'The state or region.'),
  attribute('postalCode', 'The postal code.'),
  attribute('country', 'The country code.'),
  attribute('type', 'A label, such as work or home.'),
  attribute('primary', 'Whether this is the preferred address.', { type: 'boolean' }),
]

const groupParts = [
  attribute('value', 'The id of the group.', { caseExact: true, ...readOnly }),
  attribute('$ref', 'The address of the group.', referenceAttribute(['Group'], readOnly)),
  attribute('display', 'The name of the group.', readOnly),
  attribute('type', 'Always direct.', readOnly),
]

export const userAttributes: readonly ScimAttribute[] = [
  attribute('userName', 'The name at the client. Unique in the connection, in any case.', {
    required: true,
    uniqueness: 'server',
  }),
  complex('name', 'The parts of the name.', nameParts),
  attribute('displayName', 'The name for display.'),
  attribute('nickName', 'The casual name.'),
  attribute('profileUrl', 'The address of a profile page.', referenceAttribute(['external'])),
  attribute('title', 'The job title.'),
  attribute('userType', 'The relation to the organization.'),
  attribute('preferredLanguage', 'The preferred languages.'),
  attribute('locale', 'The locale.'),
  attribute('timezone', 'The time zone.'),
  attribute('active', 'Whether the user may sign in. False ends all sessions.', {
    type: 'boolean',
  }),
  listAttribute('emails', 'Email addresses. The account has the primary one, or else the first.'),
  listAttribute('phoneNumbers', 'Phone numbers.'),
  listAttribute('ims', 'Instant messaging addresses.'),
  listAttribute('photos', 'Addresses of photos.', referenceAttribute(['external'])),
  complex('addresses', 'Postal addresses.', addressParts, { multiValued: true }),
  complex('groups', 'The groups of the user, which are changed at the groups.', groupParts, {
    multiValued: true,
    ...readOnly,
  }),
  listAttribute('entitlements', 'Entitlements. Stored without effect.'),
  listAttribute(
    'roles',
    'Roles. Stored without effect: groups decide the role in the organization.',
  ),
  listAttribute('x509Certificates', 'Certificates. Stored without effect.', {
    type: 'binary',
    caseExact: true,
  }),
]

export const enterpriseAttributes: readonly ScimAttribute[] = [
  attribute('employeeNumber', 'The employee number.'),
  attribute('costCenter', 'The cost center.'),
  attribute('organization', 'The organization.'),
  attribute('division', 'The division.'),
  attribute('department', 'The department.'),
  complex('manager', 'The manager.', [
    attribute('value', 'The id of the manager.', { caseExact: true }),
    attribute('$ref', 'The address of the manager.', referenceAttribute(['User'])),
    attribute('displayName', 'The name of the manager.'),
  ]),
]
