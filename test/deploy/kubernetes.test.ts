/** deploy/kubernetes: each object against the Kubernetes schemas, and their references to each other. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'

import {
  type IPodMonitor,
  PodMonitor,
} from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1'
import { Deployment, type IDeployment } from 'kubernetes-models/apps/v1'
import { type IPodDisruptionBudget, PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { ConfigMap, type IConfigMap, type IService, Service } from 'kubernetes-models/v1'
import { parse } from 'yaml'

import { variables } from '../../config/groups/index.ts'
import { readConfig } from '../../config/read-config.ts'
import { unknownFields } from './unknown-fields.ts'

const root = join(import.meta.dirname, '../..')
const folder = join(root, 'deploy/kubernetes')
const read = (file: string) => parse(readFileSync(join(folder, file), 'utf8'))

const deployment: IDeployment = read('deployment.yaml')
const service: IService = read('service.yaml')
const budget: IPodDisruptionBudget = read('pod-disruption-budget.yaml')
const monitor: IPodMonitor = read('pod-monitor.yaml')
const settings: IConfigMap = read('settings.yaml')

/** Not in the ConfigMap: a Secret of docs/deploying.md. */
const secrets = {
  DATABASE_URL: 'postgres://postern:x@postgres:5432/postgres',
  AUTH_JWT_SECRET: randomBytes(32).toString('base64url'),
  AUTH_ENCRYPTION_KEY: randomBytes(32).toString('base64url'),
}

const objects = {
  'deployment.yaml': { model: new Deployment(deployment), type: 'IDeployment', from: 'apps/v1' },
  'service.yaml': { model: new Service(service), type: 'IService', from: 'v1' },
  'settings.yaml': { model: new ConfigMap(settings), type: 'IConfigMap', from: 'v1' },
  'pod-disruption-budget.yaml': {
    model: new PodDisruptionBudget(budget),
    type: 'IPodDisruptionBudget',
    from: 'policy/v1',
  },
  'pod-monitor.yaml': { model: new PodMonitor(monitor), type: 'IPodMonitor', from: undefined },
}

suite('deploy/kubernetes', () => {
  for (const [file, { model }] of Object.entries(objects)) {
    test(`${file} is valid`, () => model.validate())
  }

  test('detects a value of the wrong type', () => {
    const wrong = structuredClone(read('deployment.yaml'))
    wrong.spec.replicas = 'two'
    assert.throws(() => new Deployment(wrong).validate(), /replicas must be integer/)
  })

  test('contains no unknown field', (t) => {
    assert.equal(
      findUnknownFields(t, (file) => read(file)),
      '',
    )
  })

  test('detects an unknown field', (t) => {
    const wrong = findUnknownFields(t, (file) => {
      const object = read(file)
      if (file === 'deployment.yaml') object.spec.template.spec.containers[0].readynessProbe = {}
      return object
    })
    assert.match(wrong, /readynessProbe/)
  })

  test('lists exactly the files of the Kustomization', () => {
    const { resources } = read('kustomization.yaml')
    const files = readdirSync(folder).filter((file) => file !== 'kustomization.yaml')
    assert.deepEqual(resources.toSorted(), files.toSorted())
    assert.deepEqual(Object.keys(objects).toSorted(), files.toSorted())
  })

  test('selects the pods of the Deployment by existing ports', () => {
    const labels = deployment.spec?.template.metadata?.labels
    const spread = deployment.spec?.template.spec?.topologySpreadConstraints?.[0]
    for (const selected of [
      deployment.spec?.selector.matchLabels,
      service.spec?.selector,
      budget.spec?.selector?.matchLabels,
      monitor.spec?.selector?.matchLabels,
      spread?.labelSelector?.matchLabels,
    ]) {
      assert.deepEqual(selected, labels)
    }
    const { ports = [], ...container } = getContainer(deployment)
    const named = Object.fromEntries(ports.map(({ name, containerPort }) => [name, containerPort]))
    assert.deepEqual(named, { http: variables.PORT.default, metrics: 9100 })
    assert.equal(service.spec?.ports?.[0]?.targetPort, 'http')
    assert.equal(monitor.spec?.podMetricsEndpoints?.[0]?.port, 'metrics')
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe'] as const) {
      assert.equal(container[probe]?.httpGet?.port, 'http', probe)
    }
  })

  test('labels metrics with the job named by the alerts', () => {
    const alerts = readFileSync(join(root, 'docs/operations/alerts.yml'), 'utf8')
    const jobs = new Set([...alerts.matchAll(/job="([^"]*)"/g)].map(([, job]) => job))
    const { metadata, spec } = monitor
    const { labels = {} } = deployment.spec?.template.metadata ?? {}
    // Without the name of a label of the pods it is that of the object.
    const job = spec?.jobLabel ? labels[spec.jobLabel] : `${metadata?.namespace}/${metadata?.name}`
    assert.deepEqual([...jobs], [job])
  })

  test('has settings without errors and notices, given secrets', () => {
    const notices: string[] = []
    const env = { ...settings.data, ...secrets, AUTH_SMTP_HOST: 'mail.example.com' }
    const mail = { AUTH_SMTP_ADMIN_EMAIL: 'auth@example.com' }
    const config = readConfig({ ...env, ...mail }, { dev: false, warn: (one) => notices.push(one) })
    assert.deepEqual(notices, [])
    const pod = deployment.spec?.template.spec
    const maxEmailLength = 60
    assert.ok(
      Number(pod?.terminationGracePeriodSeconds) > config.AUTH_SHUTDOWN_DELAY + maxEmailLength,
    )
    const probe = getContainer(deployment).readinessProbe
    const seenAfter = Number(probe?.periodSeconds) * Number(probe?.failureThreshold)
    assert.ok(config.AUTH_SHUTDOWN_DELAY > seenAfter, 'it stops before it is seen to')
  })

  test('runs as non-root and writes to /tmp only', () => {
    const pod = deployment.spec?.template.spec
    assert.equal(pod?.securityContext?.runAsNonRoot, true)
    assert.equal(pod?.automountServiceAccountToken, false)
    // POSTERN_PORT and the like, of every Service, would be among the variables.
    assert.equal(pod?.enableServiceLinks, false)
    const { securityContext, volumeMounts } = getContainer(deployment)
    assert.equal(securityContext?.readOnlyRootFilesystem, true)
    assert.deepEqual(securityContext?.capabilities?.drop, ['ALL'])
    assert.deepEqual(
      volumeMounts?.map(({ mountPath }) => mountPath),
      ['/tmp'],
    )
  })
})

function getContainer({ spec }: IDeployment) {
  return spec?.template.spec?.containers[0] ?? assert.fail('no container')
}

/** Of the files of the folder; `objectIn` reads one. */
function findUnknownFields(t: TestContext, objectIn: (file: string) => unknown): string {
  const entries = Object.entries(objects)
  return unknownFields(
    t,
    entries.map(([file, { type, from }]) => ({ object: objectIn(file), type, from })),
  )
}
