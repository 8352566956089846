import { formatName } from '../../core/format.ts'
import { Card } from '../../parts/card.tsx'
import { FactList, type Facts, Lines, Moment } from '../../parts/text.tsx'
import type { ShownOrganization } from './organization.ts'

export function OrganizationDetails({ organization }: { organization: ShownOrganization }) {
  return (
    <Card title="Details">
      <FactList facts={toFacts(organization)} />
    </Card>
  )
}

const onOff = (isOn: boolean) => (isOn ? 'On' : 'Off')

function toFacts({ slug, joining, default_role, metadata, ...times }: ShownOrganization): Facts {
  return [
    ['Slug', <code key="slug">{slug}</code>],
    ['Joining by invitation', onOff(joining.invitation)],
    ['Joining by domain', formatName(joining.domain)],
    ['Joining by single sign-on', onOff(joining.sso)],
    ['Joining by SCIM', onOff(joining.scim)],
    ['Default role', default_role],
    [
      'Metadata',
      Object.keys(metadata).length > 0 ? <Json key="metadata" of={metadata} /> : undefined,
    ],
    ['Created', <Moment key="created" at={times.created_at} />],
    ['Changed', <Moment key="changed" at={times.updated_at} />],
  ]
}

function Json({ of }: { of: Record<string, unknown> }) {
  return <Lines label="Metadata">{JSON.stringify(of, null, 2)}</Lines>
}
