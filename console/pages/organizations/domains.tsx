import { useState } from 'preact/hooks'

import { changeByApi, getBody } from '../../core/api.ts'
import { formatName } from '../../core/format.ts'
import { useResource } from '../../core/resource.ts'
import { showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Card } from '../../parts/card.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { TextField } from '../../parts/fields.tsx'
import { Form, type FormFields } from '../../parts/form.tsx'
import { Empty, Loaded } from '../../parts/states.tsx'
import { type Column, Table } from '../../parts/table.tsx'
import { Badge, Copy } from '../../parts/text.tsx'
import { getOrganizationPath, mayIn, type ShownDomain } from './organization.ts'

export function OrganizationDomains({ id }: { id: string }) {
  const path = `${getOrganizationPath(id)}/domains` as const
  const of = useResource((signal) => getBody(path, signal), path)
  const [isAdding, setAdding] = useState(false)
  const verify = async ({ id: domain, domain: name }: ShownDomain) => {
    await changeByApi('POST', `${path}/${domain}/verify`, {})
    showMessage(`${name} is verified`)
    of.reload()
  }
  const remove = async ({ id: domain, domain: name }: ShownDomain) => {
    await changeByApi('DELETE', `${path}/${domain}`)
    showMessage(`${name} was removed`)
    of.reload()
  }
  return (
    <Card
      title="Domains"
      flush
      actions={
        <Button disabled={!mayIn('POST', '/domains')} onClick={() => setAdding(true)}>
          Add domain
        </Button>
      }
    >
      <Loaded of={of}>
        {({ domains }) =>
          domains.length === 0 ? (
            <Empty title="No domains">
              Users with an address of a verified domain can join by themselves.
            </Empty>
          ) : (
            <Table
              label="Domains"
              columns={createColumns(verify, remove)}
              rows={domains}
              getKey={({ id }) => id}
            />
          )
        }
      </Loaded>
      {isAdding && <DomainDialog path={path} onDone={of.reload} onClose={() => setAdding(false)} />}
    </Card>
  )
}

type Act = (domain: ShownDomain) => Promise<void>

const createColumns = (verify: Act, remove: Act): Column<ShownDomain>[] => [
  { title: 'Domain', kind: 'wrap', cell: ({ domain }) => domain },
  {
    title: 'State',
    cell: ({ verified_by: by }) => (
      <Badge tone={by ? 'good' : 'warn'}>
        {by ? `Verified by ${by === 'dns' ? 'DNS' : formatName(by).toLowerCase()}` : 'Unverified'}
      </Badge>
    ),
  },
  {
    title: 'DNS record',
    kind: 'wrap',
    cell: ({ verified_at, dns_record: { name, value } }) =>
      verified_at ? (
        <span class="quiet">–</span>
      ) : (
        <div class="dns-record">
          <span>TXT {name}</span>
          <Copy text={value} label={`the value of ${name}`} />
        </div>
      ),
  },
  {
    title: 'Actions',
    isUntitled: true,
    kind: 'end',
    cell: (domain) => <Actions domain={domain} verify={verify} remove={remove} />,
  },
]

function Actions({ domain, verify, remove }: { domain: ShownDomain; verify: Act; remove: Act }) {
  return (
    <span class="row">
      {!domain.verified_at && (
        <Button
          compact
          label={`Verify ${domain.domain}`}
          disabled={!mayIn('POST', '/domains/{domain_id}/verify')}
          onClick={() => verify(domain)}
        >
          Verify
        </Button>
      )}
      <Button
        compact
        kind="danger"
        label={`Remove ${domain.domain}`}
        disabled={!mayIn('DELETE', '/domains/{domain_id}')}
        onClick={() => remove(domain)}
      >
        Remove
      </Button>
    </span>
  )
}

interface DomainDialogProps {
  path: `/admin/organizations/${string}/domains`
  onDone: () => void
  onClose: () => void
}

function DomainDialog({ path, onDone, onClose }: DomainDialogProps) {
  const add = async ({ domain }: FormFields) => {
    await changeByApi('POST', path, { domain })
    showMessage(`${domain} was added`)
    onDone()
    onClose()
  }
  return (
    <Dialog title="Add a domain" onClose={onClose}>
      <Form submit="Add domain" onSubmit={add} onCancel={onClose}>
        <TextField name="domain" label="Domain" placeholder="acme.example" required autoFocus />
      </Form>
    </Dialog>
  )
}
