import { useState } from 'preact/hooks'

import { changeByApi, Text } from '../../core/api.ts'
import { formatCount } from '../../core/format.ts'
import { showError, showMessage } from '../../core/toasts.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Table } from '../../parts/table.tsx'

interface Outcome {
  total: number
  accepted: number
  rejected: { line: number; reason: string }[]
  left_out: Record<string, number>
}

interface Chosen {
  text: string
  type: string
  outcome: Outcome
}

/** Reads a file, previews its import, and imports it on confirmation. */
export function ImportDialog({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  const [chosen, setChosen] = useState<Chosen>()
  const choose = async (file: File | undefined) => {
    setChosen(undefined)
    if (!file) return
    try {
      const text = await file.text()
      const type = file.name.endsWith('.csv') ? 'text/csv' : 'application/x-ndjson'
      setChosen({ text, type, outcome: await send(text, type, true) })
    } catch (error) {
      showError(error)
    }
  }
  const run = async () => {
    if (!chosen) return
    const { accepted } = await send(chosen.text, chosen.type, false)
    showMessage(`${formatCount(accepted)} users were imported`)
    onDone()
    onClose()
  }
  return (
    <Dialog title="Import users" wide onClose={onClose}>
      <div class="field">
        <label for="import-file">File</label>
        <input
          id="import-file"
          type="file"
          accept=".csv,.ndjson,.jsonl"
          aria-describedby="import-hint"
          onChange={(event) => choose(event.currentTarget.files?.[0])}
        />
        <span class="hint" id="import-hint">
          CSV or NDJSON of at most 10 MiB. It is checked first; nothing is stored until you confirm.
        </span>
      </div>
      {chosen && <Preview outcome={chosen.outcome} />}
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={!chosen?.outcome.accepted} onClick={run}>
          {chosen ? `Import ${formatCount(chosen.outcome.accepted)} users` : 'Import'}
        </Button>
      </div>
    </Dialog>
  )
}

function Preview({ outcome }: { outcome: Outcome }) {
  const { total, accepted, rejected } = outcome
  const leftOut = Object.entries(outcome.left_out)
  return (
    <>
      <p role="status">
        {formatCount(accepted)} of {formatCount(total)} rows can be imported.
        {rejected.length > 0 && ` ${formatCount(total - accepted)} cannot:`}
      </p>
      {leftOut.length > 0 && (
        <p>
          Left out: {leftOut.map(([name, count]) => `${name} (${formatCount(count)})`).join(', ')}.
        </p>
      )}
      {rejected.length > 0 && (
        <Table
          label="Rows that cannot be imported"
          rows={rejected}
          getKey={({ line }) => String(line)}
          columns={[
            { title: 'Line', kind: 'fit', cell: ({ line }) => line },
            { title: 'Reason', kind: 'wrap', cell: ({ reason }) => reason },
          ]}
        />
      )}
    </>
  )
}

function send(text: string, type: string, isDryRun: boolean): Promise<Outcome> {
  const path = `/admin/users/import${isDryRun ? '?dry_run=true' : ''}` as const
  return changeByApi('POST', path, new Text(text, type))
}
