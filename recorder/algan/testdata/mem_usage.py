"""Measured render-memory tables. GENERATED -- do not edit by hand.

A small one of the shape that algan 0.2 wrote, with the numbers that it published.
"""


ALGAN_VERSION = '0.2.2'
GIT_COMMIT = 'd81b2a9'
GENERATED_UTC = '2026-08-01T01:21:20Z'
SCHEMA_FINGERPRINT = 'sha256:00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff'
ENV_FINGERPRINT = {'torch': '2.7.1+cu128', 'taichi': '(1, 7, 4)', 'kbuf': 4, 'python': '3.11.6'}
CORPUS = ('postprocess:480x270c4aa1', 'postprocess:480x270c4aa1f', 'render:shapes')
DENSITY_PERCENTILE = 95.0
DENSITY_SAFETY = 1.15

# scope -> route key -> ordered allocation trace.
TRACES = {
    'postprocess': {
        (('anti_alias_level', 1), ('chain', ''), ('fxaa', 0), ('height', 270), ('width', 480)): (
            ('A', 0, 388800, 1, False),
            ('(', False),
            ('A', 0, 388800, 4, False),
            (')',),
        ),
        (('anti_alias_level', 1), ('chain', ''), ('fxaa', 1), ('height', 270), ('width', 480)): (
            ('A', 0, 518400, 4, False),
            ('(', True),
            ('A', 3, 0, 4, True),
            ('A', 0, 518400, 4, False),
            (')',),
        ),
        (('anti_alias_level', 1), ('chain', 'glow()[]'), ('fxaa', 0), ('height', 270), ('width', 480)): (
            ('A', 0, 4, 4, False),
            ('(', False),
            ('A', 0, 64, 4, False),
            (')',),
            ('A', 0, 4, 4, False),
        ),
    },
}

# scope -> route key -> exact bytes per unit of each driver.
UNITS = {
    'batch_metadata': {
        (('extended', 0), ('raster', 0)): {'fixed': 16, 'align_slack': 3},
        (('extended', 0), ('raster', 1)): {'fixed': 52, 'align_slack': 3},
    },
    'frame_buffers': {
        (('dtype', 'torch.float32'),): {'out_cells': 4, 'fixed': 0, 'align_slack': 3},
        (('dtype', 'torch.uint8'),): {'out_cells': 1, 'fixed': 0, 'align_slack': 0},
    },
    'persistent_inputs': {
        (): {'cam_frames': 52, 'light_pos_cells': 4, 'light_col_cells': 4, 'fixed': 0, 'align_slack': 3},
    },
    'wavefront_state': {
        (('global_hits', 0), ('sparse', 1)): {'pool': 100, 'primary': 28, 'fixed': 24, 'align_slack': 3},
        (('global_hits', 0),): {'pool': 92, 'primary': 28, 'fixed': 16, 'align_slack': 3},
    },
}

DENSITIES = {
    'sparse_discovery': {
        'density_of': 'num_fragments',
        'density_per': ['frames', 'pixels'],
        'density': 0.1636,
        'density_max': 0.2226,
        'density_samples': 46,
        'structural': {
            (): {'discovery_frags': 29, 'num_fragments': 28, 'num_covered': 8, 'num_pairs': 4, 'fixed': 12, 'align_slack': 36},
        },
    },
}

NONARENA = {'project': {'ratio': 4.7, 'ratio_p95': 4.512, 'samples': 31}}
